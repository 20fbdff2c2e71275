/** Matches, document by document, with what matched marked. */
import { fromTemplate, make } from "./dom.js";
import { withDocument } from "./router.js";

export class Found {
  element = make("div", "found");
  #last = null;

  /** Appends matches in the order of the server's answer. */
  add(matches) {
    for (const match of matches) {
      const list = this.#listOf(match);
      if (match.line === null) continue;
      const known = Number(list.lastElementChild?.dataset.line ?? 0);
      for (const near of match.context_before) if (near.line > known) list.append(nearRow(match, near));
      list.querySelector(`[data-line="${match.line}"]`)?.remove();
      list.append(matchRow(match));
      for (const near of match.context_after) list.append(nearRow(match, near));
    }
  }

  #listOf({ source, path }) {
    const name = `${source}/${path}`;
    if (this.#last?.name !== name) {
      const section = fromTemplate("found-document");
      const link = section.querySelector("a");
      link.href = withDocument({ source, path });
      link.querySelector("bdi").textContent = name;
      this.#last = { name, list: section.querySelector("ol") };
      this.element.append(section);
    }
    return this.#last.list;
  }
}

function matchRow(match) {
  const item = row(match, match.line);
  item.classList.add("match");
  // The server counts code points, a string of the page counts UTF-16 units.
  const letters = [...match.text];
  const text = item.querySelector("a");
  const cut = (from, to) => letters.slice(Math.max(from - match.text_start, 0), Math.max(to - match.text_start, 0)).join("");
  let at = match.text_start;
  if (match.text_start > 0) text.append("…");
  for (const [start, end] of match.ranges) {
    text.append(cut(at, start), make("mark", "", cut(start, end)));
    at = end;
  }
  text.append(cut(at, match.text_start + letters.length));
  return item;
}

function nearRow(match, { line, text }) {
  const item = row(match, line);
  item.querySelector("a").textContent = text;
  return item;
}

function row({ source, path }, line) {
  const item = fromTemplate("found-line");
  item.dataset.line = line;
  const link = item.querySelector("a");
  link.href = withDocument({ source, path, first: line });
  link.dir = "auto";
  return item;
}
