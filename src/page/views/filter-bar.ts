/** What a list of operations is filtered by: read from the address, and written to it. */
import { addressOf, filterOf } from "../address.js";
import { h, replace } from "../h.js";
import { hasRole, type Me } from "../model.js";
import { stateShape } from "../parts/state.js";
import { remember, remembered } from "../parts/theme.js";
import { LOOKS } from "../states.js";

export interface FilterBar {
  element: HTMLElement;
  search: HTMLInputElement;
  /** As it stands in the address. */
  filter(): URLSearchParams;
  /** A principal of the address has only its id until rows tell its name. */
  nameWhose(id: string, name: string): void;
}

/** As in the style sheets. */
export const NARROW = "(max-width: 52rem)";

const TIMES = [
  ["", "Any time"],
  ["-15m", "Last 15 minutes"],
  ["-1h", "Last hour"],
  ["-24h", "Last 24 hours"],
  ["-7d", "Last 7 days"],
] as const;

/** A key that is pressed soon after another belongs to the same word, ms. */
const TYPING_MS = 250;

export function filterBar(me: Me, query: URLSearchParams, onChange: () => void): FilterBar {
  let typing: number | undefined;
  const soon = (): void => {
    window.clearTimeout(typing);
    typing = window.setTimeout(onChange, TYPING_MS);
  };
  const text = (name: string, label: string, placeholder: string, type = "text") =>
    h("input", {
      type,
      name,
      "aria-label": label,
      placeholder,
      value: query.get(name) ?? "",
      oninput: soon,
      spellcheck: "false",
    });
  const choice = (name: string, label: string, options: readonly (readonly [string, string])[]) => {
    const value = query.get(name) ?? "";
    const all = options.some(([known]) => known === value) ? options : [...options, [value, value] as const];
    return h(
      "select",
      { name, "aria-label": label, onchange: onChange },
      ...all.map(([each, word]) => h("option", { value: each, selected: each === value }, word)),
    );
  };

  const search = text("q", "Search operations", "Search", "search");
  search.setAttribute("aria-keyshortcuts", "/");
  const tool = text("tool", "Tool", "Tool");
  const editor = text("editor", "Editor or pool", "Editor");
  const until = text("until", "Until", "", "datetime-local");
  const sinceChoice = choice("since", "Since", TIMES);
  const whose = hasRole(me, "operate")
    ? choice("principal", "Whose", [
        ["", "Everybody's"],
        [me.principal, "My own"],
      ])
    : undefined;
  const chosen = new Set((query.get("state") ?? "").split(",").filter(Boolean));
  const states = Object.entries(LOOKS).map(([state, { word, tone }]) => {
    const button = h(
      "button",
      {
        type: "button",
        class: `chip tone-${tone}`,
        "aria-pressed": String(chosen.has(state)),
        onclick: () => {
          if (!chosen.delete(state)) chosen.add(state);
          button.setAttribute("aria-pressed", String(chosen.has(state)));
          onChange();
        },
      },
      stateShape(state),
      word,
    );
    return button;
  });

  const filter = (): URLSearchParams => {
    const next = new URLSearchParams(query);
    for (const input of [search, tool, editor, until, sinceChoice, whose])
      if (input) next.set(input.name, input.value);
    next.set("state", [...chosen].join(","));
    return filterOf(next);
  };
  return {
    search,
    filter,
    nameWhose(id, name) {
      const option = [...(whose?.options ?? [])].find(({ value }) => value === id);
      if (option && id !== me.principal) option.textContent = name;
    },
    element: h(
      "div",
      { class: "filters", role: "search" },
      h("div", { class: "fields" }, search, savedFilters(filter)),
      // On a phone it is closed at first: the list is what people come for.
      h(
        "details",
        { class: "more", "data-name": "more", open: !window.matchMedia(NARROW).matches },
        h("summary", {}, "Filters"),
        h(
          "div",
          { class: "fields" },
          tool,
          editor,
          whose,
          sinceChoice,
          h("label", { class: "until" }, h("span", { class: "quiet" }, "until"), until),
        ),
        h("div", { class: "chips", role: "group", "aria-label": "States" }, ...states),
      ),
    ),
  };
}

// Filters that the reader has named, kept in this browser; an address carries one to somebody else.

interface Saved {
  name: string;
  query: string;
}

const KEY = "unity-broker:filters";
const MOST = 30;

/** `current`: the filter that would be saved. */
function savedFilters(current: () => URLSearchParams): HTMLElement {
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
