/** One answer: its texts, tool lines and citations, the same live and restored. */
import { Blocks } from "./blocks.js";
import { markCitations, textWithPaths } from "./citations.js";
import { fromTemplate } from "./dom.js";
import { brand } from "./interface.js";
import { appendToolLine, endToolLine } from "./tool-line.js";

export class Answer {
  element = fromTemplate("answer");
  #rounds = this.element.querySelector(".rounds");
  #text = null;
  #tools = new Map();
  #on = {
    block: ({ index, html }) => this.#open().set(index, html),
    delta: ({ text }) => text && this.#open().append(text),
    tool: (event) => this.#start(event),
    tool_result: (event) => this.#result(event),
    citations: ({ citations }) => this.#cite(citations),
  };

  constructor() {
    this.element.setAttribute("aria-label", brand());
  }

  /** Shows an event of the turn; events that are not about the answer's content do nothing. */
  apply(event) {
    this.#on[event.type]?.(event);
  }

  /** Nothing more comes: what still runs is marked as ended. */
  finish() {
    this.#close();
    for (const { row } of this.#tools.values()) endToolLine(row);
    this.#tools.clear();
    this.element.classList.remove("running");
  }

  /** The answer's words, without the tool lines. */
  get words() {
    return [...this.#rounds.querySelectorAll(".text")].map(textWithPaths).join("\n\n");
  }

  /** Whether a text is growing. */
  get isWriting() {
    return this.#text !== null;
  }

  /** The calls that have no result yet, the newest last. */
  get running() {
    return [...this.#tools.values()].map(({ call }) => call);
  }

  #open() {
    if (!this.#text) {
      this.#text = new Blocks();
      this.#rounds.append(this.#text.element);
    }
    return this.#text;
  }

  #close() {
    this.#text?.finish();
    this.#text = null;
  }

  #start(call) {
    this.#close();
    this.#tools.set(call.id, { call, row: appendToolLine(this.#rounds, call) });
  }

  #result(result) {
    const started = this.#tools.get(result.id);
    if (started) endToolLine(started.row, result);
    this.#tools.delete(result.id);
  }

  #cite(citations) {
    this.#close();
    markCitations(this.#rounds, citations);
  }
}
