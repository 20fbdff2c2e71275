/** The citations of an answer: what the server found when it checked them, shown at each link. */
import { make } from "./dom.js";
import { withDocument } from "./router.js";

const TITLES = {
  quoted: "The quoted words stand in these lines.",
  present: "These lines exist and the model has seen them; no words are quoted.",
};

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
}

/** Opens the cited document beside the chat, instead of leaving the chat. */
export function openCitation(event) {
  const link = event.target.closest("a.citation");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const { source, path, first, last } = link.dataset;
  location.hash = withDocument({ source, path, first: Number(first), last: Number(last ?? first) });
}

function mark(link, { state, reason }) {
  if (state === "unverified") return link.replaceWith(unverified(link, reason));
  link.classList.add(state);
  link.title = [link.title, TITLES[state]].filter(Boolean).join("\n");
}

function unverified(link, reason) {
  const span = make("span", "citation unverified");
  span.title = reason ?? "This could not be verified.";
  span.append(...link.childNodes);
  return span;
}

function keyOf(...parts) {
  return parts.join("\n");
}
