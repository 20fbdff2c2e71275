/** One turn in the transcript: the question, its answer, and how it ended. */
import { Answer } from "./answer.js";
import { copyButton } from "./copy.js";
import { fromTemplate } from "./dom.js";
import { notCovered, passagesNote, problem, remark, unverifiedNote } from "./notes.js";

const REMARKS = {
  stopped: "Stopped.",
  length: "The answer was cut at the model’s limit of length.",
};

export class TurnView {
  element = fromTemplate("turn");
  id = null;
  message;
  answer = new Answer();
  #foot = this.element.querySelector(".turn-foot");
  #heard = null;
  #unverified = [];
  #actions;

  /** `actions`: `askAgain(turn, changes)` asks the question once more, `edit(turn)` changes it. */
  constructor(message, actions) {
    this.message = message;
    this.#actions = actions;
    this.element.querySelector(".message.user").textContent = message;
    this.#foot.before(this.answer.element);
  }

  /** Shows an event of the turn. */
  apply(event) {
    if (event.type === "turn") this.#begin(event);
    else if (event.type === "done") this.#done(event.finish);
    else if (event.type === "error") this.#failed(event.message);
    else if (event.type === "restart") this.#restart();
    else this.#answered(event);
  }

  /** Shows a turn as the server stored it, by the events that made it. */
  restore(turn) {
    this.apply({ ...turn, type: "turn", turn_id: turn.id });
    for (const { blocks, text, calls } of turn.rounds) {
      if (blocks.length) blocks.forEach((html, index) => this.apply({ type: "block", index, html }));
      else this.apply({ type: "delta", text });
      for (const call of calls) {
        this.apply({ ...call, type: "tool" });
        this.apply({ ...call, type: "tool_result" });
      }
    }
    if (turn.citations.length) this.apply({ type: "citations", citations: turn.citations });
    if (turn.state === "interrupted") this.#failed("The server stopped before the answer was complete.");
    else if (turn.error) this.#failed(turn.error.detail);
    else this.#done(turn.state);
  }

  /** Shows the one error of this turn; `retry` is `{label, run}`. */
  fail(message, retry) {
    this.#end();
    this.#foot.append(problem(message, retry));
  }

  #begin(event) {
    this.id = event.turn_id;
    this.element.dataset.turn = event.turn_id;
    this.#heard = event;
  }

  #answered(event) {
    this.answer.apply(event);
    if (event.type !== "citations") return;
    this.#unverified = event.citations.filter(({ state }) => state === "unverified");
  }

  #restart() {
    const old = this.answer;
    this.answer = new Answer();
    old.element.replaceWith(this.answer.element);
  }

  #done(finish) {
    this.#end();
    if (REMARKS[finish]) this.#foot.append(remark(REMARKS[finish]));
    this.#explain();
  }

  #failed(message) {
    this.fail(message, {
      label: "Try again",
      run: () => this.#actions.askAgain(this, { replaces_turn: this.id }),
    });
  }

  #end() {
    this.answer.finish();
    this.#foot.replaceChildren();
    if (this.answer.words) this.#foot.append(copyButton("Copy answer", () => this.answer.words));
    if (this.id) this.#foot.append(this.#editButton());
    if (this.#unverified.length) this.#foot.append(unverifiedNote(this.#unverified));
    const { grounded, sources } = this.#heard ?? {};
    if (grounded && sources.length) this.#foot.append(passagesNote(sources));
  }

  #editButton() {
    const button = fromTemplate("edit-button");
    button.addEventListener("click", () => this.#actions.edit(this));
    return button;
  }

  /** Says why the documents were not used, and offers to use them all the same. */
  #explain() {
    const heard = this.#heard ?? {};
    if (heard.grounded !== false || heard.reason === "smalltalk") return;
    const searchAnyway = () =>
      this.#actions.askAgain(this, { replaces_turn: this.id, search_anyway: true });
    this.#foot.append(notCovered(heard, searchAnyway));
  }
}
