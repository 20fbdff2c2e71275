/** Which sources the next question is about: all of them, or those that are ticked. */
import { getJson } from "./api.js";
import { make, name } from "./dom.js";
import { count } from "./format.js";

export class Scope {
  #button = document.getElementById("scope");
  #menu = document.getElementById("scope-menu");
  #list = this.#menu.querySelector("ul");
  #chosen = new Set();

  constructor() {
    this.#menu.addEventListener("toggle", (event) => event.newState === "open" && this.#load());
    this.#list.addEventListener("change", ({ target }) => {
      this.#chosen[target.checked ? "add" : "delete"](target.value);
      this.#describe();
    });
    this.#menu.querySelector("button").addEventListener("click", () => {
      this.#chosen.clear();
      this.#describe();
      this.#menu.hidePopover();
    });
    this.#describe();
  }

  /** The chosen sources; undefined is all. */
  get sources() {
    return this.#chosen.size ? [...this.#chosen] : undefined;
  }

  async #load() {
    let sources;
    try {
      ({ sources } = await getJson("api/sources"));
    } catch (error) {
      this.#list.replaceChildren(make("li", "quiet", error.message));
      return;
    }
    const known = new Set(sources.map(({ source }) => source));
    for (const source of this.#chosen) if (!known.has(source)) this.#chosen.delete(source);
    this.#list.replaceChildren(...sources.map((source) => this.#item(source)));
    if (!sources.length) this.#list.append(make("li", "quiet", "There are no documents yet."));
    this.#describe();
  }

  #item({ source, documents }) {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = source;
    box.checked = this.#chosen.has(source);
    const label = make("label", "");
    label.append(box, name(source), make("span", "quiet", count(documents, "document")));
    const item = document.createElement("li");
    item.append(label);
    return item;
  }

  #describe() {
    const names = [...this.#chosen];
    const text = names.length > 2 ? count(names.length, "source") : names.join(", ");
    this.#button.querySelector("bdi").textContent = text || "All sources";
    this.#button.classList.toggle("narrowed", names.length > 0);
  }
}
