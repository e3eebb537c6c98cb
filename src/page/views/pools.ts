/** Pools: what waits for any Editor of some labels. */
import { addressOf } from "../address.js";
import { get } from "../api.js";
import { count } from "../format.js";
import { h, replace } from "../h.js";
import type { Pool } from "../model.js";
import { nothing, type Page, refused, type View } from "../view.js";

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

const EMPTY = () => nothing("Nothing was accepted for a pool.", "unity-broker call run-tests --pool android");

function card(pool: Pool): HTMLElement {
  const waiting = pool.waiting ?? 0;
  const editors = pool.editors ?? [];
  return h(
    "li",
    { class: "card" },
    h(
      "a",
      { href: addressOf("operations", new URLSearchParams({ editor: pool.id })), "data-focus": pool.id },
      h("strong", {}, pool.id),
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
        : `${count(editors.length, "Editor")}: ${editors.slice(0, 6).join(", ")}${editors.length > 6 ? ", …" : ""}`,
    ),
  );
}
