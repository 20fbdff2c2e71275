/** What the page must know before anything else: the brand, the model, what the caller may do. */
import { getJson } from "./api.js";

const facts = {
  brand: "Brain",
  model: "",
  offline: false,
  needs_token: false,
  may_write: false,
  max_document_bytes: Number.POSITIVE_INFINITY,
};

export async function loadInterface() {
  Object.assign(facts, await getJson("api/interface"));
  document.body.classList.toggle("may-write", facts.may_write);
  for (const place of document.querySelectorAll("[data-brand]")) place.textContent = facts.brand;
  setTitle();
  return facts;
}

/** The name under which the assistant appears. */
export function brand() {
  return facts.brand;
}

/** The answer of `GET /api/interface`. */
export function settings() {
  return facts;
}

export function setTitle(page) {
  document.title = page ? `${page} – ${facts.brand}` : facts.brand;
}
