/** The access token: kept in this browser, asked for in a dialog. */

const KEY = "brain-token";

export function token() {
  return read(localStorage) ?? "";
}

/** Opens the dialog, unless it is open; a token given starts the page afresh. */
export function askForToken() {
  const dialog = document.getElementById("token-dialog");
  if (dialog.open) return;
  const form = dialog.querySelector("form");
  form.elements.token.value = "";
  dialog.querySelector(".dialog-error").hidden = !token();
  form.onsubmit = (event) => {
    event.preventDefault();
    localStorage.setItem(KEY, form.elements.token.value.trim());
    // Every view starts over with its new rights; drafts are kept by the composer.
    location.reload();
  };
  dialog.showModal();
}

/** Says at the foot of the side bar who one is, when a token is in use. */
export function showRole(mayWrite) {
  const line = document.getElementById("signed-in");
  line.hidden = !token();
  line.querySelector(".role").textContent = mayWrite ? "Editor" : "Guest";
  line.querySelector("button").addEventListener("click", signOut);
}

function signOut() {
  localStorage.removeItem(KEY);
  // What was written or open belongs to the one who leaves.
  sessionStorage.clear();
  history.replaceState(null, "", "#/");
  location.reload();
}

function read(storage) {
  try {
    return storage.getItem(KEY);
  } catch {
    return null; // Storage is switched off.
  }
}
