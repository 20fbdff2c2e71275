/** Light or dark: the system's choice until the person makes another. */

const KEY = "brain-theme";
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

apply(stored());
document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", () => apply(other(), true));
  dark.addEventListener("change", label);
  label();
});

function other() {
  return (root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
}

/** The button says what it does. */
function label() {
  const shown = document.querySelector("#theme span");
  if (shown) shown.textContent = `Switch to ${other()}`;
}

function apply(theme, keep = false) {
  if (theme !== "light" && theme !== "dark") return;
  root.dataset.theme = theme;
  label();
  try {
    if (keep) localStorage.setItem(KEY, theme);
  } catch {
    // Storage is switched off: the choice holds for this page.
  }
}

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
