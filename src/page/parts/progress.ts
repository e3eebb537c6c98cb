/** How far something has come. */
import { percent } from "../format.js";
import { h } from "../h.js";
import type { Progress } from "../model.js";

export function progressBar(progress: Progress | undefined): HTMLElement | undefined {
  if (!progress) return undefined;
  const part = percent(progress);
  const { message = "" } = progress;
  if (part === undefined) return message === "" ? undefined : h("span", { class: "progress-text" }, message);
  return h(
    "span",
    { class: "progress" },
    h(
      "span",
      {
        class: "bar",
        role: "progressbar",
        "aria-label": "Progress",
        "aria-valuenow": part,
        "aria-valuemin": 0,
        "aria-valuemax": 100,
      },
      h("span", { style: { width: `${part}%` } }),
    ),
    h("span", { class: "progress-part" }, `${part} %`),
    message !== "" && h("span", { class: "progress-text" }, message),
  );
}
