/** The start of a conversation: what there is to ask about, and who answers. */
import { getJson } from "./api.js";
import { make, name } from "./dom.js";
import { count } from "./format.js";
import { settings } from "./interface.js";

const SHOWN = 6;

export class Welcome {
  #element = document.getElementById("welcome");

  show(visible) {
    this.#element.hidden = !visible;
    document.getElementById("chat").classList.toggle("is-new", visible);
    if (visible) this.#load();
  }

  async #load() {
    this.#describeModel();
    const { sources } = await getJson("api/sources").catch(() => ({ sources: null }));
    if (!sources) return;
    const hasDocuments = sources.length > 0;
    this.#element.classList.toggle("has-documents", hasDocuments);
    this.#element.classList.toggle("no-documents", !hasDocuments);
    if (hasDocuments) this.#describe(sources);
  }

  #describe(sources) {
    const documents = sources.reduce((sum, source) => sum + source.documents, 0);
    this.#element.querySelector(".documents-count").textContent = count(documents, "document");
    const items = sources.slice(0, SHOWN).map((source) => sourceItem(source));
    const more = sources.length - items.length;
    if (more > 0) items.push(make("li", "more", `and ${count(more, "more source", "more sources")}`));
    this.#element.querySelector(".source-chips").replaceChildren(...items);
  }

  #describeModel() {
    const { offline, model } = settings();
    this.#element.querySelector(".model-offline").hidden = !offline;
    const online = this.#element.querySelector(".model-online");
    online.hidden = offline;
    online.querySelector("bdi").textContent = model;
  }
}

function sourceItem({ source, documents }) {
  const item = make("li", "chip");
  item.append(name(source), " ", make("span", "quiet", count(documents, "document")));
  return item;
}
