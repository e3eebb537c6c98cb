/** Filters that the reader has named, kept in this browser; an address carries one to somebody else. */
import { addressOf } from "../address.js";
import { h, replace } from "../h.js";
import { remember, remembered } from "./theme.js";

interface Saved {
  name: string;
  query: string;
}

const KEY = "unity-broker:filters";
const MOST = 30;

/** `current`: the filter that would be saved. */
export function savedFilters(current: () => URLSearchParams): HTMLElement {
  const list = h("ul", {});
  const name = h("input", {
    type: "text",
    "aria-label": "Name of this filter",
    placeholder: "Name",
    maxlength: 40,
    required: true,
  });
  const change = (to: Saved[]): void => {
    remember(KEY, JSON.stringify(to.slice(0, MOST)));
    draw();
  };
  const draw = (): void => {
    const saved = read();
    const entries = saved.map((each) =>
      h(
        "li",
        {},
        h("a", { href: addressOf("operations", new URLSearchParams(each.query)) }, each.name),
        h(
          "button",
          {
            type: "button",
            class: "plain",
            "aria-label": `Remove the filter ${each.name}`,
            onclick: () => change(read().filter((other) => other.name !== each.name)),
          },
          "×",
        ),
      ),
    );
    replace(list, ...(entries.length > 0 ? entries : [h("li", { class: "quiet" }, "None yet")]));
  };
  draw();
  const form = h(
    "form",
    {
      onsubmit: (event: Event) => {
        event.preventDefault();
        const saved = { name: name.value.trim(), query: current().toString() };
        if (saved.name === "") return;
        change([saved, ...read().filter((other) => other.name !== saved.name)]);
        name.value = "";
      },
    },
    name,
    h("button", { type: "submit", class: "small" }, "Save this filter"),
  );
  return h(
    "details",
    { class: "menu", "data-name": "saved" },
    h("summary", {}, "Saved filters"),
    h("div", { class: "sheet" }, list, form),
  );
}

function read(): Saved[] {
  try {
    const saved: unknown = JSON.parse(remembered(KEY) ?? "[]");
    if (!Array.isArray(saved)) return [];
    return saved.filter(
      (each): each is Saved => typeof each?.name === "string" && typeof each?.query === "string",
    );
  } catch {
    return [];
  }
}
