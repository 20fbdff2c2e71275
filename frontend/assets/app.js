/** Starts the page: what the server says about itself, then the views, then the address. */
import { Chat } from "./chat.js";
import { markOpen } from "./citations.js";
import { Conversations } from "./conversations.js";
import { Documents } from "./documents.js";
import { Drawer } from "./drawer.js";
import { brand, loadInterface, setTitle, settings } from "./interface.js";
import { problem } from "./notes.js";
import { Reader } from "./reader.js";
import { onRoute } from "./router.js";
import { Search } from "./search.js";
import { runTurn } from "./stream.js";
import { askForToken, showRole } from "./token.js";
import { appendToolLine } from "./tool-line.js";
import { recallUnheard } from "./unheard.js";
import { UploadPanel } from "./upload-panel.js";
import { Welcome } from "./welcome.js";

export { appendToolLine, brand, runTurn };

async function start() {
  try {
    await loadInterface();
  } catch (error) {
    const retry = { label: "Try again", run: () => location.reload() };
    document.getElementById("transcript").append(problem(error.message, retry));
    return;
  }
  if (settings().needs_token) return askForToken();
  showRole(settings().may_write);
  startViews();
}

function startViews() {
  const conversations = new Conversations();
  const documents = new Documents();
  const reader = new Reader();
  const search = new Search();
  const drawer = new Drawer();
  const chat = new Chat({
    welcome: new Welcome(),
    onChange: (id) => {
      conversations.mark(id);
      conversations.load();
    },
  });
  new UploadPanel({ onUploaded: (sources) => documents.load(sources) });
  conversations.load();
  let shown = null;
  onRoute(({ view, conversation, search: asked, document: beside }) => {
    const changed = view !== shown;
    // The same key is the same turn: sent again, it is never asked twice.
    const unheard = shown === null ? recallUnheard() : null;
    shown = view;
    drawer.close();
    showView(view);
    conversations.mark(view === "chat" ? conversation : null);
    if (view === "chat") chat.show(conversation, unheard);
    else if (view === "search") search.show(asked);
    else if (changed) documents.load();
    reader.show(beside);
    markOpen(document.getElementById("transcript"));
  });
}

function showView(view) {
  for (const section of document.querySelectorAll("[data-view]")) {
    section.hidden = section.dataset.view !== view;
  }
  const links = { documents: "Documents", search: "Search" };
  for (const [name, title] of Object.entries(links)) {
    const link = document.getElementById(`${name}-link`);
    if (view === name) {
      link.ariaCurrent = "page";
      setTitle(title);
    } else {
      link.removeAttribute("aria-current");
    }
  }
}

document.getElementById("skip").addEventListener("click", () => document.getElementById("message").focus());
start();
