/** A button that copies a text. */
import { fromTemplate } from "./dom.js";
import { announce } from "./status.js";

export function copyButton(label, read) {
  const button = fromTemplate("copy-button");
  button.setAttribute("aria-label", label);
  button.title = label;
  button.addEventListener("click", async () => {
    const done = await copy(read());
    button.classList.toggle("copied", done);
    announce(done ? "Copied" : "Copying is not allowed here");
    setTimeout(() => button.classList.remove("copied"), 1_600);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // No clipboard on insecure origins.
  }
}

function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
