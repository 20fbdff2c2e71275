/** The line that a tool call leaves in the transcript, and what it says while it runs. */
import { fromTemplate, make } from "./dom.js";
import { brand } from "./interface.js";
import { searchAddress } from "./router.js";

const SEARCH = { sign: "🔎", template: "icon-search" };
const READ = { sign: "📄", template: "icon-document" };
const OTHER = { sign: "⚙️", template: "icon-other" };

const LINES = {
  list_documents: { mark: SEARCH, line: () => ["Listing documents"], doing: () => "listing documents" },
  read_document: {
    mark: READ,
    line: (path) => ["Reading ", make("code", "", path)],
    doing: (path) => `reading ${path}`,
  },
  search_documents: {
    mark: SEARCH,
    line: (pattern) => ["Searching for '", quoted(pattern), "'"],
    doing: (pattern) => `searching for '${pattern}'`,
  },
  grep_documents: {
    mark: SEARCH,
    line: (pattern) => ["Matching /", quoted(pattern), "/"],
    doing: (pattern) => `matching /${pattern}/`,
  },
  find_documents: {
    mark: SEARCH,
    line: (glob) => ["Finding ", quoted(glob)],
    doing: (glob) => `finding ${glob}`,
  },
};

/** `Brain is reading acme/setup.md`: the status while a call of a `tool` event runs. */
export function toolStatus({ name, argument }) {
  const doing = LINES[name]?.doing(argument ?? "…") ?? `calling ${name}`;
  return `${brand()} is ${doing}`;
}

export function thinkingStatus() {
  return `${brand()} is thinking …`;
}

export function answeringStatus() {
  return `${brand()} is answering …`;
}

/** Where the same can be searched for by hand. */
const SEARCHES = { search_documents: "text", grep_documents: "regex", find_documents: "path" };

/** Appends the line of a `tool` event to `parent`; answers its element, for `endToolLine`. */
export function appendToolLine(parent, { name, argument }) {
  const { mark, line } = LINES[name] ?? { mark: OTHER, line: () => ["Calling ", make("code", "", name)] };
  const mode = argument && SEARCHES[name];
  const call = make(mode ? "a" : "span", "tool-call");
  if (mode) call.href = searchAddress({ q: argument, mode });
  call.append(...icon(mark), " ", ...line(argument ?? ""));
  const row = make("div", "tool running");
  row.append(call);
  parent.append(row);
  return row;
}

/** The call has ended; without a result (the turn ended first) nothing is added. */
export function endToolLine(row, result) {
  row.classList.remove("running");
  if (!result) return;
  row.classList.toggle("failed", result.failed);
  const summary = make("span", "tool-summary", result.summary);
  summary.dir = "auto";
  row.append(" ", summary);
}

/** Drawn, so that it looks the same without an emoji font; the sign itself stays in the text. */
function icon({ sign, template }) {
  const text = make("span", "tool-sign", sign);
  text.ariaHidden = "true";
  return [fromTemplate(template), text];
}

function quoted(text) {
  return make("bdi", "tool-argument", text);
}
