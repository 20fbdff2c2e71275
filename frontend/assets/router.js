/** The address after `#`: which view, which conversation, which document beside it. */

/**
 * `#/`, `#/c/<id>`, `#/documents`, `#/documents/<source>/<path>?lines=4-8`; in the chat,
 * and in `#/search?q=…`, `doc=<source>/<path>&lines=4-8` names the document that is open beside it.
 * Answers `{view, conversation, search, document: {source, path, first, last} or null}`; `search`
 * holds the parameters of `GET /api/search`.
 */
export function parseRoute(hash) {
  const [address, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parameters = new URLSearchParams(query);
  const [view, ...rest] = address.split("/");
  if (view === "documents") {
    const document = toDocument(rest.map(decode), parameters.get("lines"));
    return { view: "documents", conversation: null, search: null, document };
  }
  const beside = parameters.get("doc")?.split("/") ?? [];
  const document = toDocument(beside, parameters.get("lines"));
  if (view === "search") {
    return { view: "search", conversation: null, search: searchParameters(parameters), document };
  }
  return {
    view: "chat",
    search: null,
    conversation: view === "c" && rest[0] ? decode(rest[0]) : null,
    document,
  };
}

export function conversationAddress(id) {
  return id ? `#/c/${encodeURIComponent(id)}` : "#/";
}

export function documentAddress({ source, path, first, last }) {
  const segments = [source, ...path.split("/")].map(encodeURIComponent);
  return `#/documents/${segments.join("/")}${first ? `?lines=${first}-${last ?? first}` : ""}`;
}

/** The present address with a document opened beside the view, or (null) with none. */
export function withDocument(document) {
  const { view, conversation, search } = parseRoute(location.hash);
  if (view === "documents") return document ? documentAddress(document) : "#/documents";
  const parameters = new URLSearchParams(search ?? []);
  if (document) {
    parameters.set("doc", `${document.source}/${document.path}`);
    if (document.first) parameters.set("lines", `${document.first}-${document.last ?? document.first}`);
  }
  const address = view === "search" ? "#/search" : conversationAddress(conversation);
  return parameters.size ? `${address}?${parameters}` : address;
}

/** The page that searches for the same: `{q, mode, …}` as in `GET /api/search`. */
export function searchAddress(parameters) {
  return `#/search?${new URLSearchParams(parameters)}`;
}

/** Names the conversation that has just begun, without a step in the history. */
export function nameConversation(id) {
  const query = location.hash.split("?")[1];
  history.replaceState(null, "", conversationAddress(id) + (query ? `?${query}` : ""));
}

export function onRoute(show) {
  const follow = () => {
    // Other fragments (`#message`) are places on the page, not views.
    if (location.hash === "" || location.hash.startsWith("#/")) show(parseRoute(location.hash));
  };
  window.addEventListener("hashchange", follow);
  follow();
}

function toDocument([source, ...path], lines) {
  if (!source || path.join("/") === "") return null;
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(lines ?? "") ?? [];
  return {
    source,
    path: path.join("/"),
    first: first ? Number(first) : null,
    last: first ? Number(last ?? first) : null,
  };
}

function searchParameters(parameters) {
  return [...parameters].filter(([key]) => key !== "doc" && key !== "lines");
}

function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
