/** What became of each file of a batch: a row per file, and the sum of it. */
import { fromTemplate } from "./dom.js";
import { count } from "./format.js";
import { announce } from "./status.js";

const ORDER = ["created", "replaced", "unchanged", "refused"];

export class UploadList {
  element = fromTemplate("upload-batch");
  #rows;
  #counts = { created: 0, replaced: 0, unchanged: 0, refused: 0 };
  #skipped;
  #changes = new Map();
  #frame = null;

  constructor(files, skipped) {
    this.#skipped = skipped;
    this.#rows = files.map(({ source, path }) => row(source, path));
    this.element.querySelector("ul").append(...this.#rows);
    this.element.querySelector("progress").max = files.length;
    this.element.querySelector(".dismiss").addEventListener("click", () => this.element.remove());
    this.#draw();
  }

  progress(index, fraction) {
    this.#change(index, { fraction });
  }

  outcome(index, result) {
    this.#counts[result.outcome] += 1;
    this.#change(index, result);
  }

  /** The batch is through. */
  finish() {
    cancelAnimationFrame(this.#frame);
    this.#draw();
    this.element.classList.add("finished");
    announce(`Upload finished: ${this.#summary()}`);
  }

  // Hundreds of small files end within a second: they are drawn together.
  #change(index, change) {
    this.#changes.set(index, change);
    this.#frame ??= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = null;
    for (const [index, change] of this.#changes) show(this.#rows[index], change);
    this.#changes.clear();
    const done = ORDER.reduce((sum, outcome) => sum + this.#counts[outcome], 0);
    this.element.querySelector("progress").value = done;
    const through = done === this.#rows.length;
    this.element.querySelector(".upload-summary").textContent =
      through ? this.#summary() : `${done} of ${count(this.#rows.length, "file")} …`;
  }

  #summary() {
    const parts = ORDER.filter((outcome) => this.#counts[outcome]).map(
      (outcome) => `${this.#counts[outcome]} ${outcome}`,
    );
    if (this.#skipped) parts.push(`${this.#skipped} skipped (hidden or generated)`);
    return parts.join(", ") || "nothing to upload";
  }
}

function row(source, path) {
  const item = fromTemplate("upload-row");
  item.querySelector("bdi").textContent = `${source}/${path}`;
  return item;
}

function show(item, { fraction, outcome, detail, notices }) {
  const label = item.querySelector(".outcome");
  if (outcome === undefined) {
    label.textContent = `${Math.round(fraction * 100)} %`;
    return;
  }
  item.dataset.outcome = outcome;
  label.textContent = outcome;
  item.querySelector(".upload-detail").textContent = detail ?? notices?.join(" ") ?? "";
}
