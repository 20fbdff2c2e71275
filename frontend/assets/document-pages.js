/** A list of documents that is loaded page by page. */
import { documentUrl, getJson, send } from "./api.js";
import { markDeleted } from "./citations.js";
import { confirmDialog } from "./dialogs.js";
import { fromTemplate, make } from "./dom.js";
import { ago, count, size } from "./format.js";
import { problem } from "./notes.js";
import { documentAddress } from "./router.js";
import { announce } from "./status.js";

const PAGE = 100;

export class DocumentPages {
  element = make("div", "document-pages");
  total = 0;
  isFresh = true;
  #list = make("ul", "document-list");
  #more = fromTemplate("more-documents");
  #query;
  #withSource;
  #onDelete;
  #next = null;

  /** `query` is `{source}` or `{name}`; `withSource` names the source in every row. */
  constructor(query, { withSource = false, onDelete }) {
    this.#query = query;
    this.#withSource = withSource;
    this.#onDelete = onDelete;
    this.#more.addEventListener("click", () => this.more());
    this.element.append(this.#list, this.#more);
  }

  /** Loads the next page; what goes wrong is shown in the list's place. */
  async more() {
    this.isFresh = false;
    this.#more.disabled = true;
    try {
      const query = new URLSearchParams({ ...this.#query, limit: PAGE });
      if (this.#next) query.set("after", this.#next);
      this.#add(await getJson(`api/documents?${query}`));
    } catch (error) {
      const failed = problem(error.message, { label: "Try again", run: () => (failed.remove(), this.more()) });
      this.element.append(failed);
    }
    this.#more.disabled = false;
  }

  #add({ documents, total, next }) {
    this.total = total;
    this.#next = next;
    const focus = document.activeElement === this.#more;
    const rows = documents.map((row) => this.#row(row));
    this.#list.append(...rows);
    this.#more.hidden = !next;
    this.#more.textContent = `Load more (${this.#list.children.length} of ${count(total, "document")} shown)`;
    if (focus) rows[0]?.querySelector("a").focus();
    if (total === 0) this.#list.replaceWith(make("p", "quiet", "No documents match."));
  }

  #row(row) {
    const item = fromTemplate("document-row");
    const link = item.querySelector("a");
    const shown = this.#withSource ? `${row.source}/${row.path}` : row.path;
    link.href = documentAddress(row);
    link.querySelector("bdi").textContent = shown;
    const facts = [count(row.lines, "line"), size(row.bytes)];
    item.querySelector(".document-facts").textContent = facts.join(" · ");
    const updated = item.querySelector("time");
    updated.dateTime = row.updated_at;
    updated.textContent = ago(row.updated_at);
    const notices = item.querySelector(".document-notices");
    notices.textContent = row.notices.join(" ");
    notices.hidden = row.notices.length === 0;
    const remove = item.querySelector("button");
    remove.setAttribute("aria-label", `Delete ${row.path}`);
    remove.addEventListener("click", () => this.#remove(row));
    return item;
  }

  async #remove({ source, path }) {
    const agreed = await confirmDialog({
      title: "Delete document?",
      text: `“${source}/${path}” will be gone. Answers keep the lines they cite.`,
      action: "Delete",
    });
    if (!agreed) return;
    try {
      await send(documentUrl(source, path), { method: "DELETE" });
      markDeleted({ source, path });
      announce(`${path} deleted`);
      this.#onDelete();
    } catch (error) {
      this.element.prepend(problem(error.message));
      announce(`Error: ${error.message}`);
    }
  }
}
