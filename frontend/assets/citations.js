/** The citations of an answer: what the server found when it checked them, shown at each link. */
import { make } from "./dom.js";
import { documentAddress, parseRoute, withDocument } from "./router.js";

const TITLES = {
  quoted: "The quoted words stand in these lines.",
  present: "These lines exist and the model has seen them; no words are quoted.",
  changed: "The document has changed since this was checked.",
  deleted: "The document was deleted since.",
};
// The text of each citation as it was checked, and of the one that was opened last.
const texts = new WeakMap();
let opened = {};

/** Marks the citation links inside `element` by the states of a `citations` event, in order. */
export function markCitations(element, citations) {
  const waiting = new Map();
  for (const citation of citations) {
    const key = keyOf(citation.source, citation.path, citation.first_line, citation.last_line);
    waiting.set(key, [...(waiting.get(key) ?? []), citation]);
  }
  for (const link of element.querySelectorAll("a.citation")) {
    const { source, path, first, last } = link.dataset;
    const queue = waiting.get(keyOf(source, path, first, last ?? first));
    if (queue) mark(link, queue.length > 1 ? queue.shift() : queue[0]);
  }
  markOpen(element);
}

/** Marks the links inside `element` whose lines the reader shows. */
export function markOpen(element) {
  const open = parseRoute(location.hash).document;
  const shown = open && keyOf(open.source, open.path, open.first, open.last);
  for (const link of element.querySelectorAll("a:is(.citation, .citation-link)")) {
    const { source, path, first, last } = link.dataset;
    if (keyOf(source, path, first, last ?? first) === shown) link.ariaCurrent = "true";
    else link.removeAttribute("aria-current");
  }
}

/** The text of `element` as it is laid out, with the whole path in each citation. */
export function textWithPaths(element) {
  const names = [...element.querySelectorAll(".citation[data-source] > bdi")];
  const short = names.map((name) => name.textContent);
  // Only what is in the page has line breaks to read; nothing is painted in between.
  for (const name of names) name.textContent = wholeName(name.parentElement.dataset);
  const text = element.innerText.trim();
  names.forEach((name, index) => (name.textContent = short[index]));
  return text;
}

/** Opens the cited document beside the chat, instead of leaving the chat. */
export function openCitation(event) {
  const link = event.target.closest("a.citation");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const { source, path, first, last } = link.dataset;
  opened = { key: keyOf(source, path, first, last ?? first), text: texts.get(link) };
  location.hash = withDocument({ source, path, first: Number(first), last: Number(last ?? first) });
}

/** The text of the citation that was opened last, if it is of these lines. */
export function citedText({ source, path, first, last }) {
  return opened.key === keyOf(source, path, first, last) ? opened.text : undefined;
}

/** Marks the citations of a deleted document, or (without a path) of a deleted source. */
export function markDeleted({ source, path }) {
  for (const link of document.querySelectorAll("a.citation")) {
    if (link.dataset.source !== source || (path ?? link.dataset.path) !== link.dataset.path) continue;
    link.classList.remove("quoted", "present", "changed");
    link.classList.add("deleted");
    link.title = TITLES.deleted;
  }
}

function mark(link, citation) {
  const { state, reason, since } = citation;
  if (state === "unverified") return link.replaceWith(unverified(link, reason));
  texts.set(link, citation.text);
  link.classList.add(since ?? state);
  link.title = [link.title, TITLES[since ?? state]].filter(Boolean).join("\n");
  if (citation.now_path) follow(link, citation);
}

/** A document that was renamed is opened under its new name. */
function follow(link, { now_source, now_path, first_line, last_line }) {
  Object.assign(link.dataset, { source: now_source, path: now_path });
  link.href = documentAddress({ source: now_source, path: now_path, first: first_line, last: last_line });
}

function unverified(link, reason) {
  const span = make("span", "citation unverified");
  span.title = reason ?? "This could not be verified.";
  Object.assign(span.dataset, link.dataset);
  span.append(...link.childNodes);
  return span;
}

function wholeName({ source, path, first, last = first }) {
  return `[${source}/${path}:${first === last ? first : `${first}-${last}`}]`;
}

function keyOf(...parts) {
  return parts.join("\n");
}
