/** Pools: what waits for any Editor of some labels. */
import { addressOf } from "../address.js";
import { get } from "../api.js";
import { count, idParts } from "../format.js";
import { h, replace } from "../h.js";
import type { Pool } from "../model.js";
import { nothing, type Page, refused, type View } from "../view.js";

const MOST_NAMES = 6;

export function poolsView(_page: Page): View {
  const body = h("div");
  return {
    title: "Pools",
    everyMs: 4_000,
    async refresh() {
      try {
        const { pools } = await get<{ pools: Pool[] }>("/pools");
        replace(body, pools.length === 0 ? EMPTY() : h("ul", { class: "cards" }, ...pools.map(card)));
      } catch (error) {
        if (body.childElementCount === 0) replace(body, refused(error));
      }
    },
    element: h(
      "section",
      { "aria-labelledby": "title" },
      h(
        "div",
        { class: "heading" },
        h("h1", { id: "title" }, "Pools"),
        h("p", { class: "summary" }, "Any idle Editor that has the labels takes the next operation."),
      ),
      body,
    ),
  };
}

const EMPTY = () =>
  nothing(
    "Nothing was accepted for a pool.",
    "A call names labels instead of an Editor: unity-broker call run-tests --pool android",
  );

function card({ pool, waiting, editors }: Pool): HTMLElement {
  const here = editors.filter(({ connected }) => connected);
  const names = editors
    .slice(0, MOST_NAMES)
    .map(({ id, connected }) => `${idParts(id).name}${connected ? "" : " (away)"}`);
  const more = editors.length > MOST_NAMES ? `, and ${editors.length - MOST_NAMES} more` : "";
  return h(
    "li",
    { class: "card" },
    h(
      "a",
      { href: addressOf("operations", new URLSearchParams({ editor: pool })), "data-focus": pool },
      h("strong", {}, pool),
    ),
    h(
      "span",
      { class: waiting > 0 ? "" : "quiet" },
      waiting === 0 ? "Nothing waits" : `${count(waiting, "operation")} ${waiting === 1 ? "waits" : "wait"}`,
    ),
    h(
      "span",
      { class: "quiet" },
      editors.length === 0
        ? "No Editor has these labels"
        : `${here.length} of ${count(editors.length, "Editor")} here: ${names.join(", ")}${more}`,
    ),
  );
}
