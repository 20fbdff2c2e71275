/** Server-sent events out of a byte stream. */

/**
 * Text in, events out. Lines end at CR, LF or CRLF only: U+2028, U+0085, VT and FF are text,
 * and a chunk may end anywhere, between CR and LF too.
 */
export class EventParser {
  #rest = "";
  #afterCr = false;
  #id = null;
  #lines = [];

  /** Answers the events that `text` completes, each `{id, data}`. */
  push(text) {
    const events = [];
    for (const line of this.#split(text)) {
      if (line === "") this.#close(events);
      else this.#field(line);
    }
    return events;
  }

  #split(text) {
    if (text === "") return [];
    const chunk = this.#afterCr && text[0] === "\n" ? text.slice(1) : text;
    this.#afterCr = text.endsWith("\r");
    const lines = chunk.split(/\r\n|\n|\r/);
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop();
    return lines;
  }

  #field(line) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#lines.push(value);
    else if (name === "id") this.#id = value;
  }

  #close(events) {
    if (this.#lines.length) events.push({ id: this.#id, data: this.#lines.join("\n") });
    this.#lines = [];
  }
}

/**
 * Yields `{id, data}` as they arrive; a broken connection ends like a closed one.
 * `onBytes` is called for every chunk, pings included.
 */
export async function* readEvents(body, onBytes = () => {}) {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(() => ({ done: true }));
      if (done) return;
      onBytes();
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
