/** Where files come in: two buttons, a field for the source, and the whole page for a drop. */
import { chosenFiles, droppedFiles } from "./dropped.js";
import { settings } from "./interface.js";
import { UploadList } from "./upload-list.js";
import { uploadAll } from "./uploads.js";

const SOURCE = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;
const LOOSE_FILES = "uploads";

export class UploadPanel {
  #field = document.getElementById("upload-source");
  #problem = document.getElementById("upload-problem");
  #batches = document.getElementById("upload-batches");
  #onUploaded;

  constructor({ onUploaded }) {
    this.#onUploaded = onUploaded;
    this.#field.addEventListener("input", () => this.#isValid());
    for (const id of ["upload-files", "upload-folder"]) this.#listen(document.getElementById(id));
    this.#acceptDrops();
  }

  #listen(input) {
    input.addEventListener("change", () => {
      const chosen = chosenFiles(input.files);
      input.value = ""; // The same files may be chosen again.
      this.#upload(chosen);
    });
  }

  #acceptDrops() {
    const overlay = document.getElementById("drop-overlay");
    const wanted = (event) => settings().may_write && event.dataTransfer?.types.includes("Files");
    window.addEventListener("dragover", (event) => {
      if (!wanted(event)) return;
      event.preventDefault();
      overlay.hidden = false;
    });
    window.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) overlay.hidden = true;
    });
    window.addEventListener("drop", async (event) => {
      overlay.hidden = true;
      if (!wanted(event)) return;
      event.preventDefault();
      const dropped = droppedFiles(event.dataTransfer);
      location.hash = "#/documents";
      this.#upload(await dropped);
    });
  }

  async #upload({ files, skipped }) {
    if (!this.#isValid()) return this.#field.focus();
    const named = this.#field.value.trim();
    const placed = files.map(({ file, path }) => ({ file, ...place(named, path) }));
    const list = new UploadList(placed, skipped);
    this.#batches.prepend(list.element);
    const progress = (index, fraction) => list.progress(index, fraction);
    await uploadAll(placed, progress, (index, outcome) => list.outcome(index, outcome));
    list.finish();
    this.#onUploaded(new Set(placed.map(({ source }) => source)));
  }

  #isValid() {
    const name = this.#field.value.trim();
    const valid = name === "" || SOURCE.test(name);
    this.#problem.hidden = valid;
    this.#field.setAttribute("aria-invalid", String(!valid));
    return valid;
  }
}

/** With no source named, a folder is a source of its own, and loose files share one. */
function place(source, path) {
  if (source) return { source, path };
  const [folder, ...rest] = path.split("/");
  if (rest.length === 0) return { source: LOOSE_FILES, path };
  return { source: toSourceName(folder), path: rest.join("/") };
}

function toSourceName(folder) {
  const name = folder.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 100);
  return SOURCE.test(name) && /[A-Za-z0-9]/.test(name) ? name : LOOSE_FILES;
}
