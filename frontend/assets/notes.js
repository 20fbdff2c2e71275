/** What stands under an answer: errors, remarks, and what the model was given. */
import { markOpen } from "./citations.js";
import { fromTemplate, make, name } from "./dom.js";
import { count } from "./format.js";
import { withDocument } from "./router.js";

const MOST_NAMED = 2;

/** A visible error; `retry` (optional) is `{label, run}`. */
export function problem(message, retry) {
  const element = fromTemplate("problem");
  element.querySelector(".error-text").textContent = message;
  const button = element.querySelector("button");
  if (retry) {
    button.textContent = retry.label;
    button.addEventListener("click", retry.run, { once: true });
  } else {
    button.remove();
  }
  return element;
}

export function remark(text) {
  return make("p", "remark", text);
}

/** Why a question was deflected, with a button that searches all the same. */
export function notCovered({ reason, score, scope }, searchAnyway) {
  const element = fromTemplate("not-covered");
  const why = element.querySelector(".why");
  why.textContent = reason ?? "";
  if (scope?.length) why.append(" ", ...searched(scope));
  if (typeof score === "number") why.title = `Score ${score.toFixed(2)}`;
  element.querySelector("button").addEventListener("click", searchAnyway, { once: true });
  return element;
}

function searched(scope) {
  if (scope.length > MOST_NAMED) return [`Only ${count(scope.length, "source")} were searched.`];
  const named = scope.flatMap((source, n) => (n ? [" and ", name(source)] : [name(source)]));
  return ["Only ", ...named, scope.length > 1 ? " were searched." : " was searched."];
}

/** The passages that the model was given at the start, as links, folded away. */
export function passagesNote(passages) {
  return folded(`${count(passages.length, "passage")} read first`, passages.map(passageItem));
}

/** The citations that did not hold, each with its reason, folded away. */
export function unverifiedNote(citations) {
  return folded(`${count(citations.length, "citation")} not verified`, citations.map(unverifiedItem));
}

function folded(summary, items) {
  const element = fromTemplate("folded-note");
  element.querySelector("summary").textContent = summary;
  element.querySelector("ul").append(...items);
  return element;
}

function unverifiedItem({ source, path, first_line: first, last_line: last, reason }) {
  const item = make("li", "");
  item.append(place(make("span", "citation-link"), source, path, first, last), ` ${reason ?? ""}`);
  return item;
}

function place(element, source, path, first, last) {
  element.append(name(`${source}/${path}`), `:${first === last ? first : `${first}-${last}`}`);
  return element;
}

function passageItem({ source, path, first_line: first, last_line: last }) {
  const link = place(make("a", "citation-link"), source, path, first, last);
  link.href = withDocument({ source, path, first, last });
  Object.assign(link.dataset, { source, path, first, last });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    location.hash = withDocument({ source, path, first, last });
  });
  const item = document.createElement("li");
  item.append(link);
  markOpen(item);
  return item;
}
