/** The text of one round: Markdown blocks that the server renders and sanitises, as they grow. */
import { make } from "./dom.js";
import { copyButton } from "./copy.js";

export class Blocks {
  element = make("div", "text");
  #waiting = new Map();
  #timer = null;
  #plain = null;

  constructor() {
    this.element.dir = "auto";
  }

  /** Block `index` is now `html`; shown soon, only the newest state of each block. */
  set(index, html) {
    this.#waiting.set(index, html);
    this.#timer ??= setTimeout(() => this.flush(), 16);
  }

  /** Plain text, for a turn that is not rendered by the server. */
  append(text) {
    if (!this.#plain) {
      this.#plain = make("div", "plain");
      this.element.append(this.#plain);
    }
    this.#plain.append(text);
  }

  flush() {
    const began = performance.now();
    for (const [index, html] of this.#waiting) this.#show(index, html);
    this.#waiting.clear();
    clearTimeout(this.#timer);
    // A long block takes long to lay out: most of the time stays with typing and scrolling.
    const cost = performance.now() - began;
    this.#timer = cost > 8 ? setTimeout(() => this.#rested(), 4 * cost) : null;
  }

  /** The text is complete. */
  finish() {
    this.flush();
    clearTimeout(this.#timer);
    // Emptied, as what stood there was no part of the answer.
    for (const block of this.element.querySelectorAll(":scope > .block:empty")) block.remove();
    for (const code of this.element.querySelectorAll("pre")) addCopyButton(code);
  }

  #rested() {
    this.#timer = null;
    if (this.#waiting.size) this.flush();
  }

  #show(index, html) {
    while (this.element.children.length <= index) this.element.append(make("div", "block"));
    const block = this.element.children[index];
    // The only HTML that is not from our own templates: sanitised by the server.
    block.innerHTML = html;
    for (const link of block.querySelectorAll("a[href]:not(.citation)")) {
      link.rel = "noopener noreferrer";
      link.target = "_blank";
    }
  }
}

function addCopyButton(code) {
  const frame = make("div", "code");
  code.tabIndex = 0; // It scrolls: the keyboard must reach it.
  code.replaceWith(frame);
  frame.append(code, copyButton("Copy code", () => code.textContent.replace(/\n$/, "")));
}
