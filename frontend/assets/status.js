/** What is going on: the line above the composer for eyes, one polite node for screen readers. */

const QUIET_MS = 3_000;
let lastSpoken = 0;

/** Shows `text` while a turn runs; the empty text clears it. */
export function showStatus(text) {
  const line = document.getElementById("send-status");
  if (line.textContent === text) return;
  line.textContent = text;
  // A turn with fifty tool calls is told in a handful of announcements.
  if (text && Date.now() - lastSpoken > QUIET_MS) announce(text);
}

export function announce(text) {
  lastSpoken = Date.now();
  document.getElementById("announcer").textContent = text;
}
