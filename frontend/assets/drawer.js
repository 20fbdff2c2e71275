/** The side bar on a narrow screen: a drawer over the page. */

const NARROW = matchMedia("(max-width: 767px)");

export class Drawer {
  #bar = document.getElementById("sidebar");
  #opener = document.getElementById("open-menu");

  constructor() {
    this.#opener.addEventListener("click", () => this.#set(true));
    document.getElementById("drawer-shade").addEventListener("click", () => this.close());
    this.#bar.querySelector(".close").addEventListener("click", () => this.close());
    this.#bar.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    NARROW.addEventListener("change", () => this.close());
  }

  close() {
    if (this.#bar.classList.contains("open")) this.#set(false);
  }

  #set(open) {
    this.#bar.classList.toggle("open", open);
    document.getElementById("drawer-shade").hidden = !open;
    document.getElementById("main").inert = open;
    this.#opener.ariaExpanded = String(open);
    if (open) this.#bar.querySelector(".close").focus();
    else this.#opener.focus();
  }
}
