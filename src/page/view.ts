/** What every view is: an element, and how it becomes current. */
import { h } from "./h.js";
import type { Watched } from "./live.js";
import type { Me } from "./model.js";

export interface View extends Watched {
  title: string;
  element: HTMLElement;
  /** What / leads to. */
  search?: HTMLElement | undefined;
  /** Other keys (Escape is the page's own). True: it was for this view. */
  onKey?(event: KeyboardEvent): boolean;
  close?(): void;
}

export interface Page {
  me: Me;
  /** Goes to an address of this page. */
  go(address: string, how?: "push" | "replace"): void;
}

/** Said in place of something that is not there. */
export function nothing(text: string, hint = ""): HTMLElement {
  return h("div", { class: "nothing" }, h("p", {}, text), hint !== "" && h("p", { class: "quiet" }, hint));
}

/** Said where something could not be read. */
export function refused(error: unknown): HTMLElement {
  return h("div", { class: "nothing refused", role: "alert" }, h("p", {}, (error as Error).message));
}
