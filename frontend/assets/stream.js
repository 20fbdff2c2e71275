/** A turn as it runs: ask once, follow to the end, come back after a dropped connection. */
import { ApiError, send } from "./api.js";
import { takeSlot } from "./slots.js";
import { readEvents } from "./sse.js";

// The server pings every 15 s: a connection that is silent for longer is dead.
const SILENCE_MS = 45_000;
// Without a slot, a connection is held just long enough to hear what is new, again and again.
const SIP_MS = 400;
const SIP_PAUSE_MS = 1_200;
const PAUSES_MS = [300, 1_000, 2_000, 4_000, 8_000, 8_000];

/** The turn may go on in the server, but nobody tells us. */
export class ConnectionLost extends Error {
  constructor() {
    super("The connection was lost.");
    this.name = "ConnectionLost";
  }
}

/**
 * Asks a question: one POST, never repeated here. Calls `onEvent` for each event, up to and with
 * the `done` or `error` that ends the turn; `restart`, an event of our own, says that all events
 * come again. Throws ApiError when refused, or ConnectionLost.
 */
export async function runTurn(question, onEvent, signal) {
  const follower = new Follower(null, onEvent, signal);
  await follower.follow((options) => send("api/chat", { method: "POST", json: question, ...options }));
}

/** Follows a turn that was asked before, from its first event. */
export async function rejoinTurn(turnId, onEvent, signal) {
  await new Follower(turnId, onEvent, signal).follow(null);
}

class Follower {
  #turnId;
  #lastId = null;
  #ended = false;
  #onEvent;
  #signal;
  #release = null;

  constructor(turnId, onEvent, signal) {
    this.#turnId = turnId;
    this.#onEvent = onEvent;
    this.#signal = signal;
  }

  async follow(ask) {
    this.#release = await takeSlot();
    try {
      if (ask) await this.#listen(ask);
      await this.#resume();
    } finally {
      this.#release?.();
    }
  }

  async #resume() {
    let failures = 0;
    while (!this.#ended) {
      this.#signal.throwIfAborted();
      if (this.#turnId === null || failures >= PAUSES_MS.length) throw new ConnectionLost();
      const heard = await this.#listen((options) => this.#events(options)).catch(passing);
      if (heard === false) this.#restart();
      failures = heard ? 0 : failures + 1;
      if (!this.#ended) await this.#pause(heard && !this.#release ? SIP_PAUSE_MS : PAUSES_MS[failures]);
    }
  }

  /** The server knows the turn but not our place in it, after a long sleep: it is told anew. */
  #restart() {
    this.#lastId = null;
    this.#onEvent({ type: "restart" });
  }

  #events(options) {
    const headers = this.#lastId === null ? {} : { "Last-Event-ID": this.#lastId };
    return send(`api/turns/${this.#turnId}/events?render=html`, { headers, ...options });
  }

  /** Reads one connection to its end; answers whether there was anything to hear. */
  async #listen(connect) {
    const connection = new AbortController();
    const signal = AbortSignal.any([this.#signal, connection.signal]);
    const response = await connect({ signal });
    let timer;
    let isSip = false;
    const watch = () => {
      if (isSip) return; // However much comes: the connection is given up in time.
      clearTimeout(timer);
      isSip = !this.#release && this.#turnId !== null;
      timer = setTimeout(() => connection.abort(), isSip ? SIP_MS : SILENCE_MS);
    };
    watch();
    let heard = false;
    try {
      for await (const event of readEvents(response.body, watch)) {
        heard = true;
        this.#take(event);
        watch();
        if (this.#ended) break;
      }
    } finally {
      clearTimeout(timer);
    }
    this.#signal.throwIfAborted();
    return heard || (isSip && connection.signal.aborted);
  }

  #take({ id, data }) {
    const event = JSON.parse(data);
    this.#lastId = id ?? this.#lastId;
    if (event.type === "turn") this.#turnId = event.turn_id;
    this.#ended = event.type === "done" || event.type === "error";
    this.#onEvent(event);
  }

  async #pause(milliseconds = 0) {
    await new Promise((resolve) => {
      setTimeout(resolve, milliseconds);
      this.#signal.addEventListener("abort", resolve, { once: true });
    });
    this.#signal.throwIfAborted();
  }
}

/** Answers null for a failure that another try may overcome. */
function passing(error) {
  const hopeless = error.status >= 400 && error.status < 500;
  if (error instanceof ApiError && !hopeless) return null;
  throw error;
}
