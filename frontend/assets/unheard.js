/** The question that began a conversation of which nothing has been heard yet: a reload finds it. */

const KEY = "brain-unheard";
let isLeaving = false;
// Some browsers end the requests of a page that is being left, as if the server could not be reached.
addEventListener("beforeunload", () => (isLeaving = true));
addEventListener("pageshow", () => (isLeaving = false));

/** Keeps `{message, key, …}` for the next load of the page, in this tab. */
export function rememberUnheard(question) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(question));
  } catch {
    // Storage is full or switched off: the conversation can still be found in the list.
  }
}

/** Answers the question that was kept, or null, and keeps it no longer. */
export function recallUnheard() {
  try {
    const question = JSON.parse(sessionStorage.getItem(KEY));
    sessionStorage.removeItem(KEY);
    return question;
  } catch {
    return null;
  }
}

/** It was heard of, or refused, or another conversation is shown. */
export function forgetUnheard() {
  if (isLeaving) return;
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing could be kept either.
  }
}
