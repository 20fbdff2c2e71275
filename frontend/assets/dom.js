/** Elements out of the page's templates. */

/** The first element of a `<template>`, as a fresh copy. */
export function fromTemplate(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** A name that someone else chose: isolated, so that no direction mark reorders its surroundings. */
export function name(text) {
  return make("bdi", "", text);
}
