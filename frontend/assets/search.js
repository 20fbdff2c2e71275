/** The search page: the form, the address that holds it, and pages of matches. */
import { getJson } from "./api.js";
import { fromTemplate } from "./dom.js";
import { count } from "./format.js";
import { Found } from "./found.js";
import { problem } from "./notes.js";
import { searchAddress } from "./router.js";
import { announce } from "./status.js";

const PAGE = 100;

export class Search {
  #form = document.getElementById("search-form");
  #results = document.getElementById("search-results");
  #summary = document.getElementById("search-summary");
  #shown = null;
  #load = new AbortController();
  #first;
  #matches = [];

  constructor() {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask();
    });
    this.#form.addEventListener("change", ({ target }) => {
      const matters = target.type === "radio" || target.type === "checkbox";
      if (matters && this.#form.elements.q.value) this.#ask();
    });
  }

  /** Shows the form with `parameters` (pairs of the address), and what they find. */
  show(parameters) {
    const key = JSON.stringify(parameters);
    if (key === this.#shown) return;
    this.#shown = key;
    this.#fill(new Map(parameters));
    this.#load.abort();
    this.#results.replaceChildren();
    this.#summary.textContent = "";
    if (parameters.some(([name, value]) => name === "q" && value)) this.#search(parameters);
    else this.#form.elements.q.focus();
  }

  #ask() {
    const filled = [...new FormData(this.#form)].filter(([name, value]) => value && !(name === "mode" && value === "text"));
    const address = searchAddress(filled);
    if (location.hash === address) this.#again(filled);
    else location.hash = address;
  }

  #again(parameters) {
    this.#shown = null;
    this.show(parameters);
  }

  #fill(parameters) {
    for (const field of this.#form.elements) {
      if (field.type === "radio") field.checked = (parameters.get("mode") ?? "text") === field.value;
      else if (field.type === "checkbox") field.checked = parameters.get(field.name) === "true";
      else if (field.name) field.value = parameters.get(field.name) ?? "";
    }
    const narrowed = ["path", "include", "exclude", "context"].some((name) => parameters.get(name));
    if (narrowed) document.getElementById("search-scope").open = true;
  }

  async #search(parameters) {
    this.#load = new AbortController();
    const loading = fromTemplate("loading");
    this.#results.append(loading);
    const found = new Found();
    try {
      const answer = await this.#page(parameters, found, null);
      this.#first = answer;
      this.#matches = [...answer.matches];
      this.#describe(answer, new Map(parameters));
      loading.replaceWith(found.element, ...this.#more(parameters, found, answer));
    } catch (error) {
      if (error.name === "AbortError") return;
      loading.replaceWith(problem(error.message));
      announce(`Error: ${error.message}`);
    }
  }

  async #page(parameters, found, after) {
    const query = new URLSearchParams([...parameters, ["limit", PAGE]]);
    if (after) query.set("after", after);
    const answer = await getJson(`api/search?${query}`, { signal: this.#load.signal });
    found.add(answer.matches);
    return answer;
  }

  #more(parameters, found, { next }) {
    if (!next) return [];
    const button = fromTemplate("more-matches");
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const answer = await this.#page(parameters, found, next);
        this.#matches.push(...answer.matches);
        this.#describe(this.#known(answer), new Map(parameters));
        button.replaceWith(...this.#more(parameters, found, answer));
      } catch (error) {
        button.disabled = false;
        if (error.name !== "AbortError") announce(`Error: ${error.message}`);
      }
    });
    return [button];
  }

  /** After a further page: no less than what is shown, which is everything at the end. */
  #known({ next }) {
    const first = this.#first;
    const total = next ? Math.max(first.total, this.#matches.length) : this.#matches.length;
    const documents = new Set(this.#matches.map(({ source, path }) => `${source}/${path}`)).size;
    const documents_matched = next ? Math.max(first.documents_matched, documents) : documents;
    return { ...first, total, documents_matched, total_is_exact: !next || first.total_is_exact };
  }

  #describe({ total, total_is_exact: exact, documents_matched: matched, documents_searched: searched, matches }, asked) {
    const among = count(searched, "document");
    const least = exact ? "" : "At least ";
    const isPaths = matches[0]?.line === null;
    if (!total) this.#summary.textContent = `Nothing found in ${among}.${globHint(asked)}`;
    else if (isPaths) this.#summary.textContent = `${least}${count(total, "document")} of ${among}`;
    else this.#summary.textContent = `${least}${count(total, "line")} in ${count(matched, "document")}, ${among} searched`;
  }
}

/** Who looks for a plain word by names may not know that a whole name is asked for. */
function globHint(parameters) {
  const q = parameters.get("q");
  if (parameters.get("mode") !== "path" || /[*?[{]/.test(q)) return "";
  const name = q.split("/").findLast(Boolean) ?? "";
  const globs = q.includes("/") ? `**/${name}* or **/${name}/**` : `*${name}*`;
  return ` A name is a glob over paths, without the source: try ${globs}.`;
}
