/** Matches, document by document, with what matched marked. */
import { fromTemplate, make } from "./dom.js";
import { withDocument } from "./router.js";

export class Found {
  element = make("div", "found");
  #last = null;

  /** Appends matches in the order of the server's answer. */
  add(matches) {
    const lists = new Set();
    for (const match of matches) {
      const list = this.#listOf(match);
      if (match.line === null) continue;
      lists.add(list);
      for (const near of [...match.context_before, ...match.context_after]) place(list, nearRow(match, near));
      place(list, matchRow(match));
    }
    lists.forEach(separate);
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

/** Keeps the lines in order, each once: what is near one match may be another match. */
function place(list, row) {
  const line = Number(row.dataset.line);
  let before = list.lastElementChild;
  while (before && Number(before.dataset.line) > line) before = before.previousElementSibling;
  if (Number(before?.dataset.line) !== line) list.insertBefore(row, before ? before.nextElementSibling : list.firstElementChild);
  else if (row.classList.contains("match")) before.replaceWith(row);
}

/** Draws a line where others are left out between two groups of lines. */
function separate(list) {
  const rows = [...list.children];
  const isGrouped = rows.some((row) => !row.classList.contains("match"));
  rows.forEach((row, n) => {
    const gap = n > 0 && Number(row.dataset.line) - Number(rows[n - 1].dataset.line) > 1;
    row.classList.toggle("apart", isGrouped && gap);
  });
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
