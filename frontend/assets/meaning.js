/** “meaning: 80 %, 2 min left” beside a source, until all of it can be found by its meaning. */
import { getJson } from "./api.js";

const POLL_MS = 3000;

export class MeaningNotes {
  #notes = new Map();
  #timer;

  /** Writes how far `source` is into `note`, and keeps it current while that is on the page. */
  follow(source, note) {
    this.#notes.set(source.source, note);
    if (write(note, source.meaning)) this.#lookAgain();
  }

  #lookAgain() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#refresh(), POLL_MS);
  }

  async #refresh() {
    for (const [name, note] of this.#notes) if (!note.isConnected) this.#notes.delete(name);
    if (this.#notes.size === 0) return;
    let goesOn = true;
    try {
      // A hidden view costs the server nothing, and is current again soon after it is shown.
      const isShown = [...this.#notes.values()].some((note) => note.checkVisibility());
      if (isShown) goesOn = this.#writeAll((await getJson("api/sources")).sources);
    } catch {
      // The server is away: the next look may find it back.
    }
    if (goesOn) this.#lookAgain();
  }

  #writeAll(sources) {
    const unfinished = sources.filter(({ source, meaning }) => {
      const note = this.#notes.get(source);
      return note && write(note, meaning);
    });
    return unfinished.length > 0;
  }
}

/** Whether there is more to come. */
function write(note, meaning) {
  const goesOn = Boolean(meaning) && meaning.embedded < meaning.passages;
  note.textContent = goesOn ? describe(meaning) : "";
  note.title = goesOn ? "So much is found by its meaning; everything is found by its words." : "";
  return goesOn;
}

function describe({ passages, embedded, seconds_left: left }) {
  const share = `meaning: ${Math.floor((100 * embedded) / passages)} %`;
  if (left === null) return share;
  return left < 60 ? `${share}, less than a minute left` : `${share}, ${Math.round(left / 60)} min left`;
}
