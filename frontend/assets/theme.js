/** Light or dark: the system's choice until the person makes another. */

const KEY = "brain-theme";
const root = document.documentElement;

apply(stored());
document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", () => apply(toggle(), true));
});

function toggle() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return (root.dataset.theme ?? system) === "dark" ? "light" : "dark";
}

function apply(theme, keep = false) {
  if (theme !== "light" && theme !== "dark") return;
  root.dataset.theme = theme;
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
