/** A question before something with an effect, and what became of it. */
import { h } from "../h.js";

export interface Question {
  title: string;
  text: string;
  /** What the button says that does it. */
  yes: string;
}

/** Resolves to false on Escape. */
export function confirmed({ title, text, yes }: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const dialog = h(
      "dialog",
      { "aria-labelledby": "question", class: "question" },
      h("h2", { id: "question" }, title),
      h("p", {}, text),
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", onclick: () => dialog.close("no") }, "Keep it as it is"),
        h("button", { type: "button", class: "primary", onclick: () => dialog.close("yes") }, yes),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const SHOWN_MS = 8_000;

/** Says something for a while. */
function say(text: string, tone: "good" | "bad" = "good"): void {
  const place = document.querySelector("#said");
  const note = h(
    "div",
    { class: `said tone-${tone}` },
    h("span", {}, text),
    h("button", { type: "button", "aria-label": "Close this message", onclick: () => note.remove() }, "×"),
  );
  place?.append(note);
  window.setTimeout(() => note.remove(), SHOWN_MS);
}

/** Does it, and says what became of it. */
export async function attempt(what: () => Promise<string>): Promise<void> {
  try {
    say(await what());
  } catch (error) {
    say((error as Error).message, "bad");
  }
}
