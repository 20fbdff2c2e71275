/** A turn that runs: its status, its stop, and what went wrong with it. */
import { ApiError, send } from "./api.js";
import { brand } from "./interface.js";
import { announce, showStatus } from "./status.js";
import { ConnectionLost, rejoinTurn, runTurn } from "./stream.js";
import { answeringStatus, thinkingStatus, toolStatus } from "./tool-line.js";
import { forgetUnheard, rememberUnheard } from "./unheard.js";

const ENDINGS = { stopped: "Stopped", length: "Answer cut short" };

export class Run {
  #view;
  #onBegin;
  #left = new AbortController();
  #wantsStop = false;
  #onStopFailed = () => {};

  constructor(view, onBegin) {
    this.#view = view;
    this.#onBegin = onBegin;
  }

  /**
   * Runs the turn of `question`, or with null follows the view's turn. Answers null when the
   * server ended it, else `{message, resume}`: `resume` when the turn may still be running there.
   */
  async follow(question) {
    announce(thinkingStatus());
    showStatus(thinkingStatus());
    if (question && !question.conversation_id) rememberUnheard(question);
    try {
      const onEvent = (event) => this.#show(event);
      if (question) await runTurn(question, onEvent, this.#left.signal);
      else await rejoinTurn(this.#view.id, onEvent, this.#left.signal);
      return null;
    } catch (error) {
      return this.#left.signal.aborted ? null : explain(error, this.#view.id);
    } finally {
      forgetUnheard();
      if (!this.#left.signal.aborted) showStatus("");
    }
  }

  /** Stops the turn, as soon as the server has named it; `onFailed` when that did not work. */
  stop(onFailed) {
    this.#wantsStop = true;
    this.#onStopFailed = onFailed;
    if (this.#view.id) this.#sendStop();
  }

  /** The page turns to something else; the turn goes on in the server. */
  leave() {
    this.#left.abort();
    showStatus("");
  }

  #show(event) {
    if (this.#left.signal.aborted) return;
    this.#view.apply(event);
    if (event.type === "turn") this.#begin(event);
    else if (event.type === "status") showStatus(event.text);
    else if (event.type === "done") announce(ENDINGS[event.finish] ?? "Answer complete");
    else if (event.type === "error") announce(`Error: ${event.message}`);
    else if (event.type !== "citations") this.#tell();
  }

  #begin(event) {
    forgetUnheard();
    this.#onBegin(event.conversation_id);
    if (this.#wantsStop) this.#sendStop();
  }

  #tell() {
    const { running, isWriting } = this.#view.answer;
    if (running.length) showStatus(toolStatus(running.at(-1)));
    else showStatus(isWriting ? answeringStatus() : thinkingStatus());
  }

  async #sendStop() {
    try {
      await send(`api/turns/${this.#view.id}/stop`, { method: "POST" });
    } catch (error) {
      announce(`${brand()} could not be stopped: ${error.message}`);
      this.#onStopFailed();
    }
  }
}

function explain(error, turnId) {
  announce(`Error: ${error.message}`);
  if (error instanceof ConnectionLost) {
    const resume = turnId !== null;
    const more = resume ? " The answer goes on in the server." : "";
    return { message: error.message + more, resume };
  }
  if (error instanceof ApiError) return { message: error.message, resume: false };
  console.error(error);
  return { message: "The answer could not be shown.", resume: turnId !== null };
}
