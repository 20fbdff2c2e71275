/** Files out of a drop or a file field, each with its path: `{file, path}`. */

// What tools generate and nobody wants to ask about; hidden folders are left out as well.
const SKIPPED = new Set([
  "__pycache__", "node_modules", "venv", "env", "dist", "build", "target", "out", "coverage",
]);
const SKIPPED_FILES = new Set([".DS_Store", "Thumbs.db"]);

/** Answers `{files, skipped}` for the chosen files of an `<input type="file">`. */
export function chosenFiles(list) {
  const files = Array.from(list, (file) => ({ file, path: file.webkitRelativePath || file.name }));
  const kept = files.filter(({ path }) => isWanted(path));
  return { files: kept, skipped: files.length - kept.length };
}

/**
 * Answers `{files, skipped}` for a drop, folders walked. The entries must be taken from the event
 * at once: after the first await the browser has emptied it.
 */
export async function droppedFiles(transfer) {
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return chosenFiles(transfer.files);
  const found = { files: [], skipped: 0 };
  for (const entry of entries) await walk(entry, entry.name, found);
  return found;
}

async function walk(entry, path, found) {
  if (!isWanted(entry.isDirectory ? `${path}/` : path)) {
    found.skipped += 1;
    return;
  }
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.files.push({ file, path });
    return;
  }
  for (const child of await children(entry)) await walk(child, `${path}/${child.name}`, found);
}

async function children(folder) {
  const reader = folder.createReader();
  const all = [];
  for (;;) {
    // One call answers at most a hundred entries; an empty one is the end.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

function isWanted(path) {
  const segments = path.split("/");
  const file = segments.pop();
  return !SKIPPED_FILES.has(file) && !segments.some((folder) => SKIPPED.has(folder) || folder.startsWith("."));
}
