/** The list of conversations: open, rename, delete. */
import { getJson, send } from "./api.js";
import { confirmDialog, promptDialog } from "./dialogs.js";
import { fromTemplate } from "./dom.js";
import { conversationAddress } from "./router.js";
import { announce } from "./status.js";

export class Conversations {
  #list = document.getElementById("conversations");
  #empty = document.getElementById("no-conversations");
  #current = null;

  async load() {
    let conversations;
    try {
      ({ conversations } = await getJson("api/conversations"));
    } catch (error) {
      this.#empty.textContent = error.message;
      this.#empty.hidden = false;
      return;
    }
    const focused = this.#list.contains(document.activeElement) && document.activeElement.closest("li");
    this.#list.replaceChildren(...conversations.map((conversation) => this.#item(conversation)));
    if (focused) this.#focus(focused.dataset.id);
    this.#empty.hidden = conversations.length > 0;
    this.mark(this.#current);
  }

  /** Marks the conversation that is shown; null is none. */
  mark(id) {
    this.#current = id;
    for (const item of this.#list.children) {
      const link = item.querySelector("a");
      const current = item.dataset.id === id;
      item.classList.toggle("current", current);
      if (current) link.ariaCurrent = "page";
      else link.removeAttribute("aria-current");
    }
  }

  #item({ id, title, running }) {
    const item = fromTemplate("conversation");
    item.dataset.id = id;
    item.classList.toggle("running", running);
    const link = item.querySelector("a");
    link.href = conversationAddress(id);
    link.querySelector(".title").textContent = title;
    link.title = title;
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
