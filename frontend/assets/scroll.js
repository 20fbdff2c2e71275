/** Keeps a growing text at its end, as long as the reader is there. */

const NEAR_PX = 60;

export class StickToBottom {
  #box;
  #button;
  #atBottom = true;
  #top = 0;

  /** `box` scrolls its only child; `button` leads back to the end. */
  constructor(box, button) {
    this.#box = box;
    this.#button = button;
    box.addEventListener("scroll", () => this.#look(), { passive: true });
    new ResizeObserver(() => (this.#atBottom ? this.jump() : this.#look())).observe(box.firstElementChild);
    new ResizeObserver(() => this.#atBottom && this.jump()).observe(box);
    button.addEventListener("click", () => this.jump());
  }

  jump() {
    this.#box.scrollTop = this.#box.scrollHeight;
    this.#look();
  }

  #look() {
    const { scrollHeight, scrollTop, clientHeight } = this.#box;
    const isNear = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    // Text that grows takes the end away from the reader; only going up takes the reader away.
    this.#atBottom = isNear || (this.#atBottom && scrollTop >= this.#top);
    this.#top = scrollTop;
    this.#button.hidden = this.#atBottom;
  }
}
