/** Light or dark: as the system has it, or as the reader chose. */
import { h } from "../h.js";

const KEY = "unity-broker:theme";
const CHOICES = [
  ["auto", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

export function themeSwitch(): HTMLElement {
  const chosen = remembered(KEY) ?? "auto";
  apply(chosen);
  return h(
    "label",
    { class: "theme" },
    h("span", { class: "unseen" }, "Colours"),
    h(
      "select",
      {
        onchange: ({ target }: Event) => {
          const { value } = target as HTMLSelectElement;
          remember(KEY, value);
          apply(value);
        },
      },
      ...CHOICES.map(([value, name]) => h("option", { value, selected: value === chosen }, name)),
    ),
  );
}

function apply(theme: string): void {
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
}

/** A browser may refuse to keep anything. */
export function remembered(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It holds until the page is closed.
  }
}
