/** The document that is open beside the view. */
import { citedText, markDeleted } from "./citations.js";
import { fromTemplate, make } from "./dom.js";
import { count } from "./format.js";
import { Lines, citedLines } from "./lines.js";
import { withDocument } from "./router.js";
import { announce } from "./status.js";

const COVERS = matchMedia("(max-width: 1099px)");

export class Reader {
  #panel = document.getElementById("reader");
  #body = this.#panel.querySelector(".reader-body");
  #shown = "";
  #opener = null;
  #load = new AbortController();

  constructor() {
    this.#panel.querySelector(".close").addEventListener("click", () => this.#close());
    this.#panel.addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
    COVERS.addEventListener("change", () => this.#cover());
  }

  /** Shows `{source, path, first, last}`; null closes the panel. */
  show(document_) {
    const key = document_ ? JSON.stringify(document_) : "";
    if (key === this.#shown) return;
    this.#load.abort();
    if (!this.#shown) this.#opener = document.activeElement;
    this.#shown = key;
    this.#panel.hidden = !document_;
    document.body.classList.toggle("reading", Boolean(document_));
    this.#cover();
    if (document_) this.#open(document_);
    else this.#opener?.focus();
  }

  async #open(document_) {
    this.#load = new AbortController();
    const { signal } = this.#load;
    const { source, path, first, last } = document_;
    this.#panel.querySelector(".reader-path").textContent = `${source}/${path}`;
    this.#panel.querySelector(".reader-facts").textContent = lineRange(first, last);
    this.#body.replaceChildren(fromTemplate("loading"));
    this.#panel.querySelector("h2").focus({ preventScroll: true });
    const lines = new Lines(document_, signal);
    try {
      const content = await lines.load();
      this.#fill(lines, content, document_);
    } catch (error) {
      if (error.name !== "AbortError") this.#fail(error, document_);
    }
  }

  /** Of a document that was deleted, the answer has kept the lines that it cites. */
  #fail({ status, message }, document_) {
    const text = status === 404 ? citedText(document_) : undefined;
    if (text === undefined) return this.#refuse(message);
    markDeleted(document_);
    const note = make("p", "reader-note", "This document was deleted. The cited lines said:");
    this.#body.replaceChildren(note, citedLines(text, document_.first));
    announce(note.textContent);
  }

  #fill(lines, content, { first, last }) {
    const facts = [lineRange(first, last), count(content.lines, "line")].filter(Boolean);
    this.#panel.querySelector(".reader-facts").textContent = facts.join(" of ");
    const earlier = this.#more("Earlier lines", lines, () => lines.loadEarlier());
    const later = this.#more("Later lines", lines, () => lines.loadLater());
    this.#body.replaceChildren(earlier, lines.element, later);
    this.#offer(lines);
    const cited = lines.element.querySelector(".cited");
    if (cited) cited.scrollIntoView({ block: "center" });
    else this.#body.scrollTop = 0;
    announce(`${content.path} opened`);
  }

  #more(label, lines, load) {
    const button = fromTemplate("more-lines");
    button.textContent = label;
    button.addEventListener("click", async () => {
      button.disabled = true;
      const below = this.#body.scrollHeight - this.#body.scrollTop;
      try {
        await load();
        // What was in view stays in view when lines come in above it.
        if (label.startsWith("Earlier")) this.#body.scrollTop = this.#body.scrollHeight - below;
      } catch (error) {
        if (error.name !== "AbortError") announce(`Error: ${error.message}`);
      }
      button.disabled = false;
      this.#offer(lines);
    });
    return button;
  }

  #offer(lines) {
    this.#body.firstElementChild.hidden = !lines.hasEarlier;
    this.#body.lastElementChild.hidden = !lines.hasLater;
  }

  #refuse(message) {
    const element = fromTemplate("problem");
    element.querySelector(".error-text").textContent = message;
    element.querySelector("button").remove();
    this.#body.replaceChildren(element);
    announce(`Error: ${message}`);
  }

  /** On a narrow screen the panel lies over everything: the rest is out of reach meanwhile. */
  #cover() {
    const covered = COVERS.matches && !this.#panel.hidden;
    for (const part of document.querySelectorAll("#main, #sidebar")) part.inert = covered;
  }

  #close() {
    location.hash = withDocument(null);
  }
}

function lineRange(first, last) {
  if (!first) return "";
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}
