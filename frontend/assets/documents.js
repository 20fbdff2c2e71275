/** The documents view: every source with its documents, a filter, and removal. */
import { getJson, send } from "./api.js";
import { markDeleted } from "./citations.js";
import { confirmDialog } from "./dialogs.js";
import { fromTemplate } from "./dom.js";
import { ago, count, size } from "./format.js";
import { DocumentPages } from "./document-pages.js";
import { MeaningNotes } from "./meaning.js";
import { problem } from "./notes.js";
import { announce } from "./status.js";

// With few documents there is nothing to gain by folding them away.
const FEW = 100;
const TYPING_MS = 200;

export class Documents {
  #groups = document.getElementById("document-groups");
  #filter = document.getElementById("document-filter");
  #names = document.getElementById("source-names");
  #open = new Set();
  #meaning = new MeaningNotes();
  #timer;
  #loading = 0;

  constructor() {
    this.#filter.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.load(), TYPING_MS);
    });
  }

  /** Shows what is stored now; the sources `opened` with their documents unfolded. */
  async load(opened = []) {
    for (const source of opened) this.#open.add(source);
    this.#loading += 1;
    const loading = this.#loading;
    let parts;
    try {
      const { sources } = await getJson("api/sources");
      this.#describe(sources);
      const filter = this.#filter.value.trim();
      parts = filter ? [await this.#matches(filter)] : this.#sections(sources);
    } catch (error) {
      parts = [problem(error.message, { label: "Try again", run: () => this.load() })];
    }
    if (loading === this.#loading) this.#groups.replaceChildren(...parts);
  }

  #describe(sources) {
    const total = sources.reduce((sum, source) => sum + source.documents, 0);
    const summary = document.getElementById("documents-summary");
    summary.textContent = total ? `${count(total, "document")} in ${count(sources.length, "source")}` : "";
    document.getElementById("no-documents").hidden = total > 0;
    document.getElementById("filter-row").hidden = total === 0;
    const options = sources.map(({ source }) => new Option(source, source));
    this.#names.replaceChildren(...options);
  }

  async #matches(filter) {
    const pages = new DocumentPages({ name: filter }, { withSource: true, onDelete: () => this.load() });
    await pages.more();
    announce(count(pages.total, "document"));
    return pages.element;
  }

  #sections(sources) {
    const total = sources.reduce((sum, source) => sum + source.documents, 0);
    return sources.map((source) => this.#section(source, total <= FEW || sources.length === 1));
  }

  #section(source, openAtFirst) {
    const section = fromTemplate("source-group");
    const details = section.querySelector("details");
    section.querySelector(".source-name").textContent = source.source;
    section.querySelector(".source-facts").textContent =
      `${count(source.documents, "document")} · ${size(source.bytes)} · ${ago(source.updated_at)}`;
    this.#meaning.follow(source, section.querySelector(".source-meaning"));
    const remove = section.querySelector(".delete-source");
    remove.setAttribute("aria-label", `Delete source ${source.source}`);
    remove.addEventListener("click", () => this.#remove(source));
    const pages = new DocumentPages({ source: source.source }, { onDelete: () => this.load() });
    details.append(pages.element);
    details.addEventListener("toggle", () => {
      this.#open[details.open ? "add" : "delete"](source.source);
      if (details.open && pages.isFresh) pages.more();
    });
    details.open = openAtFirst || this.#open.has(source.source);
    return section;
  }

  async #remove({ source, documents }) {
    const agreed = await confirmDialog({
      title: "Delete source?",
      text: `“${source}” and its ${count(documents, "document")} will be gone.`,
      action: "Delete source",
    });
    if (!agreed) return;
    try {
      await send(`api/sources/${encodeURIComponent(source)}`, { method: "DELETE" });
      markDeleted({ source });
      announce(`${source} deleted`);
      await this.load();
      this.#filter.focus();
    } catch (error) {
      this.#groups.prepend(problem(error.message));
      announce(`Error: ${error.message}`);
    }
  }
}
