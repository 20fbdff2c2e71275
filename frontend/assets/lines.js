/** A window of a document's numbered lines, which grows at both ends. */
import { documentUrl, getJson } from "./api.js";
import { make } from "./dom.js";

const BEFORE = 80;
const AFTER = 160;
const STEP = 300;
// Laying out a line of megabytes stops the page; its end is of no use on a screen.
const LONGEST = 20_000;

export class Lines {
  element = make("div", "lines");
  #document;
  #signal;
  #first = 0;
  #last = 0;
  #total = Number.POSITIVE_INFINITY;

  constructor({ source, path, first, last }, signal) {
    this.#document = { source, path, first, last };
    this.#signal = signal;
  }

  get hasEarlier() {
    return this.#first > 1;
  }

  get hasLater() {
    return this.#last < this.#total;
  }

  /** Loads the lines around the marked ones; answers what the server tells of the document. */
  async load() {
    const from = Math.max(1, (this.#document.first ?? 1) - BEFORE);
    const content = await this.#fetch(from, (this.#document.last ?? from) + AFTER);
    this.#total = content.lines;
    this.#first = content.first_line;
    this.#last = content.last_line;
    this.element.replaceChildren(this.#rows(content));
    return content;
  }

  async loadEarlier() {
    const content = await this.#fetch(Math.max(1, this.#first - STEP), this.#first - 1);
    this.#first = content.first_line;
    this.element.prepend(this.#rows(content));
  }

  async loadLater() {
    const content = await this.#fetch(this.#last + 1, this.#last + STEP);
    this.#last = content.last_line;
    this.element.append(this.#rows(content));
  }

  #fetch(first, last) {
    const url = documentUrl(this.#document.source, this.#document.path);
    return getJson(`${url}?lines=${first}-${last}`, { signal: this.#signal });
  }

  #rows({ content, first_line: first, last_line: last }) {
    const rows = document.createDocumentFragment();
    const texts = content.split("\n").slice(0, last - first + 1);
    texts.forEach((text, offset) => rows.append(this.#row(first + offset, text)));
    return rows;
  }

  #row(number, text) {
    const { first, last } = this.#document;
    return lineRow(number, text, Boolean(first) && number >= first && number <= last);
  }
}

/** Cited lines without their document. */
export function citedLines(text, first) {
  const element = make("div", "lines");
  element.append(...text.split("\n").map((line, offset) => lineRow(first + offset, line, true)));
  return element;
}

function lineRow(number, text, isCited) {
  const row = make("div", isCited ? "line cited" : "line");
  row.dataset.line = number;
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
  const cell = make("span", "line-text", shown);
  cell.dir = "auto";
  row.append(cell);
  return row;
}
