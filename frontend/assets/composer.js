/** Where a question is written: sends once, never in the middle of composing a character. */
import { announce } from "./status.js";

const SAFARI_COMPOSING = 229;

export class Composer {
  #form;
  #field;
  #send;
  #stop;
  #onSend;
  #running = false;
  #draftKey = "brain-draft";
  #notice = document.getElementById("editing");
  #notSent = document.getElementById("not-sent");
  #edited = null;

  /** `onSend(text, turn)`: `turn` is the one whose question was edited, or null. */
  constructor(form, { onSend, onStop }) {
    this.#form = form;
    this.#field = form.elements.message;
    this.#send = form.querySelector("#send");
    this.#stop = form.querySelector("#stop");
    this.#onSend = onSend;
    form.addEventListener("submit", (event) => this.#submit(event));
    this.#field.addEventListener("keydown", (event) => this.#key(event));
    this.#field.addEventListener("input", () => this.#changed());
    this.#field.disabled = false; // Until here, what was typed would have been lost.
    this.#stop.addEventListener("click", () => {
      this.#stop.disabled = true;
      onStop();
    });
    this.#notice.querySelector("button").addEventListener("click", () => {
      this.#write("");
      this.#mark(null);
      this.focus();
    });
  }

  /** Shows the draft of another conversation. */
  open(conversation) {
    this.#draftKey = `brain-draft-${conversation ?? "new"}`;
    this.#mark(null);
    this.#write(draft(this.#draftKey));
  }

  /** Takes up the question of a turn, to be asked anew. */
  edit(turn) {
    this.#write(turn.message);
    this.#mark(turn);
    this.focus();
  }

  /** The conversation has got its id: what is being written belongs to it from now on. */
  move(conversation) {
    const text = this.#field.value;
    keepDraft(this.#draftKey, "");
    this.#draftKey = `brain-draft-${conversation}`;
    this.#write(text);
  }

  /** While a turn runs, typing goes on, but only Stop is offered. */
  set running(running) {
    const hadFocus = [document.body, this.#stop, this.#send, null].includes(document.activeElement);
    this.#running = running;
    this.#send.hidden = running;
    this.#stop.hidden = !running;
    this.#stop.disabled = false;
    this.#notSent.hidden = true;
    this.#changed();
    if (hadFocus) this.focus();
  }

  /** Stop did not reach the server: it may be pressed again. */
  offerStop() {
    this.#stop.disabled = false;
  }

  /** Gives back the text of a question that was not taken, unless another is being written. */
  giveBack(text) {
    if (this.#field.value.trim() === "") this.#write(text);
  }

  /** Forgets `text` if it stands in the field: it has been sent another way. */
  takeAway(text) {
    if (this.#field.value === text) this.#write("");
  }

  focus() {
    this.#field.focus({ preventScroll: true });
  }

  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    if (event.isComposing || event.keyCode === SAFARI_COMPOSING) return;
    event.preventDefault();
    this.#form.requestSubmit();
  }

  #submit(event) {
    event.preventDefault();
    const text = this.#field.value;
    if (text.trim() === "") return;
    if (this.#running) return this.#refuse();
    const edited = this.#edited;
    this.#write("");
    this.#mark(null);
    this.#onSend(text.trim(), edited);
    this.focus();
  }

  #refuse() {
    this.#notSent.hidden = false;
    announce(this.#notSent.textContent);
  }

  #mark(turn) {
    this.#edited = turn;
    this.#notice.hidden = turn === null;
  }

  #write(text) {
    this.#field.value = text;
    this.#changed();
  }

  #changed() {
    this.#field.style.height = "auto";
    this.#field.style.height = `${this.#field.scrollHeight}px`;
    this.#send.disabled = this.#field.value.trim() === "";
    keepDraft(this.#draftKey, this.#field.value);
  }
}

function draft(key) {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function keepDraft(key, text) {
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // Storage is full or switched off: the field itself still holds the text.
  }
}
