/** The chat view: one conversation, its turns, and the turn that runs in it. */
import { getJson } from "./api.js";
import { Composer } from "./composer.js";
import { openCitation } from "./citations.js";
import { setTitle } from "./interface.js";
import { newKey } from "./key.js";
import { nameConversation } from "./router.js";
import { Run } from "./run.js";
import { Scope } from "./scope.js";
import { StickToBottom } from "./scroll.js";
import { TurnView } from "./turn-view.js";
import { problem } from "./notes.js";

export class Chat {
  #conversation;
  #transcript = document.getElementById("transcript");
  #welcome;
  #composer;
  #scope = new Scope();
  #scroll;
  #run = null;
  #unsent = null;
  #title = "";
  #onChange;

  /** `onChange(conversationId)` is called when a conversation begins, and when a turn ends. */
  constructor({ welcome, onChange }) {
    this.#welcome = welcome;
    this.#onChange = onChange;
    this.#composer = new Composer(document.getElementById("composer"), {
      onSend: (message, edited) =>
        edited ? this.#askAgain(edited, { message, replaces_turn: edited.id }) : this.#ask(message),
      onStop: () => this.#run?.stop(() => this.#composer.offerStop()),
    });
    const box = document.getElementById("transcript-box");
    this.#scroll = new StickToBottom(box, document.getElementById("to-bottom"));
    this.#transcript.addEventListener("click", openCitation);
  }

  /** Shows a conversation, or (null) the start of a new one, with the question `unheard` asked. */
  async show(id, unheard = null) {
    if (id === this.#conversation) return setTitle(this.#title);
    this.#leave();
    this.#conversation = id;
    this.#title = "";
    this.#transcript.replaceChildren();
    this.#composer.open(id);
    this.#welcome.show(id === null);
    setTitle();
    if (id) await this.#load(id);
    else if (unheard) this.#askAgain(null, unheard);
    if (matchMedia("(pointer: fine)").matches) this.#composer.focus();
  }

  async #load(id) {
    let conversation;
    try {
      conversation = await getJson(`api/conversations/${encodeURIComponent(id)}`);
    } catch (error) {
      if (this.#conversation === id) this.#transcript.append(problem(error.message));
      return;
    }
    if (this.#conversation !== id) return;
    this.#title = conversation.title;
    setTitle(this.#title);
    for (const turn of conversation.turns) this.#restore(turn);
    this.#scroll.jump();
  }

  #restore(turn) {
    const view = this.#add(turn.message);
    if (turn.state !== "running") return view.restore(turn);
    view.id = turn.id;
    this.#follow(view, null);
  }

  #ask(message, changes = {}) {
    const view = this.#add(message);
    this.#follow(view, { message, key: newKey(), sources: this.#scope.sources, ...changes });
    this.#scroll.jump();
  }

  /** Asks a turn's question again; its place is taken by the new turn at the end. */
  #askAgain(old, changes) {
    if (this.#run) return;
    old?.element.remove();
    this.#composer.takeAway((old ?? changes).message);
    this.#ask(changes.message ?? old.message, changes);
  }

  #add(message) {
    this.#unsent?.element.remove();
    this.#unsent = null;
    this.#welcome.show(false);
    const view = new TurnView(message, {
      askAgain: (turn, changes) => this.#askAgain(turn, changes),
      edit: (turn) => this.#composer.edit(turn),
    });
    this.#transcript.append(view.element);
    return view;
  }

  async #follow(view, question) {
    const run = new Run(view, (id) => this.#begun(id));
    this.#run = run;
    this.#composer.running = true;
    this.#transcript.ariaBusy = "true";
    const asked = question && { ...question, conversation_id: this.#conversation, render: "html" };
    const failure = await run.follow(asked);
    if (run !== this.#run) return; // Another conversation is shown.
    this.#run = null;
    this.#transcript.ariaBusy = "false";
    if (failure) this.#failed(view, question, failure);
    this.#composer.running = false;
    this.#onChange(this.#conversation);
  }

  #failed(view, question, { message, resume }) {
    if (resume) {
      return view.fail(message, { label: "Reconnect", run: () => this.#run ?? this.#rejoin(view) });
    }
    // Nothing was stored: the text goes back, and the same key makes a second try the same turn.
    this.#unsent = view;
    this.#composer.giveBack(view.message);
    view.fail(message, { label: "Try again", run: () => this.#askAgain(view, question) });
  }

  #rejoin(view) {
    const fresh = this.#add(view.message);
    fresh.id = view.id;
    view.element.replaceWith(fresh.element);
    this.#follow(fresh, null);
  }

  #begun(id) {
    if (id === this.#conversation) return;
    this.#conversation = id;
    nameConversation(id);
    this.#composer.move(id);
    this.#onChange(id);
  }

  #leave() {
    this.#run?.leave();
    this.#run = null;
    this.#unsent = null;
    this.#transcript.ariaBusy = "false";
    this.#composer.running = false;
  }
}
