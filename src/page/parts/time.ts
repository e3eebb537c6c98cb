/** Times that go on: written once a second, all at once. */
import { now } from "../api.js";
import { age, duration, moment } from "../format.js";
import { h } from "../h.js";

/** "4 min ago"; the exact time where the pointer rests. */
export function ago(at: string | undefined): HTMLElement | string {
  if (at === undefined) return "";
  const ms = Date.parse(at);
  return h("time", { datetime: at, title: moment(ms), "data-ago": ms, class: "number" }, age(now() - ms));
}

/** "6.2 s" so far, while it goes on. */
export function since(at: string | undefined): HTMLElement | string {
  if (at === undefined) return "";
  const ms = Date.parse(at);
  return h(
    "time",
    { datetime: at, title: `since ${moment(ms)}`, "data-since": ms, class: "number" },
    duration(now() - ms),
  );
}

export function keepTime(): void {
  window.setInterval(() => {
    if (document.hidden) return;
    for (const element of document.querySelectorAll<HTMLElement>("[data-ago], [data-since]")) {
      const { ago: at, since: from } = element.dataset;
      const text = at === undefined ? duration(now() - Number(from)) : age(now() - Number(at));
      if (element.textContent !== text) element.textContent = text;
    }
  }, 1_000);
}
