/** The two questions the page asks: “sure?” and “what name?”. */

/** Answers whether the person agreed. */
export async function confirmDialog({ title, text, action }) {
  return (await ask({ title, text, action, danger: true })) !== null;
}

/** Answers the text that was given, or null. */
export function promptDialog({ title, label, value, action }) {
  return ask({ title, label, value, action });
}

function ask({ title, text = "", label, value = "", action, danger = false }) {
  const dialog = document.getElementById("ask-dialog");
  const form = dialog.querySelector("form");
  const field = form.elements.answer;
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector(".dialog-text").textContent = text;
  dialog.querySelector(".field").hidden = !label;
  dialog.querySelector(".field-label").textContent = label ?? "";
  field.disabled = !label;
  field.value = value;
  const accept = dialog.querySelector(".accept");
  accept.textContent = action;
  accept.classList.toggle("danger", danger);
  return new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault();
      dialog.close("accepted");
    };
    dialog.querySelector(".cancel").onclick = () => dialog.close("");
    dialog.onclose = () => resolve(dialog.returnValue === "accepted" ? field.value.trim() : null);
    dialog.returnValue = "";
    dialog.showModal();
    if (label) field.select();
  });
}
