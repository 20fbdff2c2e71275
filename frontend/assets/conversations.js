/** The list of conversations by their age: open, filter, rename, delete. */
import { getJson, send } from "./api.js";
import { confirmDialog, promptDialog } from "./dialogs.js";
import { fromTemplate } from "./dom.js";
import { count, moment, period } from "./format.js";
import { conversationAddress } from "./router.js";
import { announce } from "./status.js";

// So many are found at a glance.
const FEW = 10;

export class Conversations {
  #list = document.getElementById("conversations");
  #empty = document.getElementById("no-conversations");
  #filter = document.getElementById("conversation-filter");
  #all = [];
  #current = null;

  constructor() {
    this.#filter.addEventListener("input", () => announce(count(this.#show(), "conversation")));
  }

  async load() {
    try {
      ({ conversations: this.#all } = await getJson("api/conversations"));
    } catch (error) {
      this.#empty.textContent = error.message;
      this.#empty.hidden = false;
      return;
    }
    const focused = this.#list.contains(document.activeElement) && document.activeElement.closest("li");
    this.#show();
    if (focused) this.#focus(focused.dataset.id);
  }

  /** Shows those whose title holds what stands in the filter; returns how many. */
  #show() {
    const few = this.#all.length <= FEW;
    this.#filter.hidden = few;
    const wanted = few ? "" : this.#filter.value.trim().toLowerCase();
    const shown = this.#all.filter(({ title }) => title.toLowerCase().includes(wanted));
    const groups = new Map();
    for (const conversation of shown) {
      const name = period(conversation.updated_at);
      if (!groups.has(name)) groups.set(name, this.#group(name));
      groups.get(name).querySelector("ul").append(this.#item(conversation));
    }
    this.#list.replaceChildren(...groups.values());
    this.#empty.textContent = this.#all.length ? "No conversation has that title." : "None yet.";
    this.#empty.hidden = shown.length > 0;
    this.mark(this.#current);
    return shown.length;
  }

  #group(name) {
    const group = fromTemplate("conversation-group");
    group.querySelector("h3").textContent = name;
    group.querySelector("ul").setAttribute("aria-label", name);
    return group;
  }

  /** Marks the conversation that is shown; null is none. */
  mark(id) {
    this.#current = id;
    for (const item of this.#list.querySelectorAll("li")) {
      const link = item.querySelector("a");
      const current = item.dataset.id === id;
      item.classList.toggle("current", current);
      if (current) link.ariaCurrent = "page";
      else link.removeAttribute("aria-current");
    }
  }

  #item({ id, title, running, updated_at: updated }) {
    const item = fromTemplate("conversation");
    item.dataset.id = id;
    item.classList.toggle("running", running);
    const link = item.querySelector("a");
    link.href = conversationAddress(id);
    link.querySelector(".title").textContent = title;
    link.title = `${title}\n${moment(updated)}`;
    const [rename, remove] = item.querySelectorAll("button");
    rename.setAttribute("aria-label", `Rename ${title}`);
    remove.setAttribute("aria-label", `Delete ${title}`);
    rename.addEventListener("click", () => this.#rename(id, title));
    remove.addEventListener("click", () => this.#remove(id, title));
    return item;
  }

  async #rename(id, old) {
    const title = await promptDialog({
      title: "Rename conversation",
      label: "Title",
      value: old,
      action: "Rename",
    });
    if (!title || title === old) return;
    await this.#change(id, { method: "PATCH", json: { title } }, "Renamed");
    this.#focus(id);
  }

  #focus(id) {
    this.#list.querySelector(`[data-id="${CSS.escape(id)}"] a`)?.focus();
  }

  async #remove(id, title) {
    const agreed = await confirmDialog({
      title: "Delete conversation?",
      text: `“${title}” and its answers will be gone. Documents stay.`,
      action: "Delete",
    });
    if (!agreed) return;
    const deleted = await this.#change(id, { method: "DELETE" }, "Deleted");
    if (deleted && id === this.#current) location.hash = conversationAddress(null);
    document.getElementById("new-chat").focus();
  }

  async #change(id, options, done) {
    try {
      await send(`api/conversations/${encodeURIComponent(id)}`, options);
    } catch (error) {
      this.#empty.textContent = error.message;
      this.#empty.hidden = false;
      announce(`Error: ${error.message}`);
      return false;
    }
    announce(done);
    await this.load();
    return true;
  }
}
