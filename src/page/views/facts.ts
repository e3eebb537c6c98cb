/** What is known of an operation, in words. */
import { addressOf } from "../address.js";
import { duration, moment } from "../format.js";
import { h } from "../h.js";
import type { History } from "../model.js";
import { hasEnded } from "../states.js";

/** A result is shown up to here; get_operation_result and /result have all of it. */
const MOST_TEXT = 4_000;

export function factsOf(history: History): HTMLElement {
  const {
    editor,
    pool,
    principal,
    principal_name: name = principal,
    client,
    effect,
    execution_ms,
    accepted_at,
    queue_position,
    estimated_start_seconds: start,
    estimated_end_seconds: end,
  } = history;
  const link = (field: string, value: string, text = value) =>
    h("a", { href: addressOf("operations", new URLSearchParams({ [field]: value })), title: value }, text);
  const at = accepted_at ?? history.timeline[0]?.at;
  const facts: [string, Node | string | undefined][] = [
    ["Editor", link("editor", editor)],
    ["Pool", pool === undefined ? undefined : link("editor", pool)],
    ["Tool", link("tool", history.tool)],
    ["Effect", effect?.replaceAll("_", " ")],
    ["Client", client],
    ["Principal", principal === undefined ? undefined : link("principal", principal, name)],
    ["Accepted", at === undefined ? undefined : moment(at)],
    ["Ran for", execution_ms === undefined ? undefined : duration(execution_ms)],
    [
      "Before it",
      queue_position === undefined || hasEnded(history.state) ? undefined : `${queue_position} in the queue`,
    ],
    ["Starts in about", start === undefined ? undefined : duration(start * 1_000)],
    ["Ends in about", end === undefined ? undefined : duration(end * 1_000)],
    ["Error", errorOf(history)],
  ];
  return h(
    "dl",
    { class: "facts" },
    ...facts.flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [h("div", {}, h("dt", {}, name), h("dd", {}, value))],
    ),
  );
}

function errorOf({ error }: History): string | undefined {
  if (error === undefined || typeof error === "string") return error;
  return [error.code, error.message].filter(Boolean).join(": ");
}

export interface Outcome {
  result?: unknown;
  preview?: unknown;
  partial_result?: unknown;
  message?: string;
}

export function outcomeOf(outcome: Outcome | undefined, state: string): HTMLElement {
  const ended = hasEnded(state);
  return h(
    "section",
    { class: "outcome", "aria-labelledby": "outcome" },
    h("h2", { id: "outcome" }, ended ? "Outcome" : "So far"),
    ...(outcome ? [h("p", {}, outcome.message ?? ""), ...shownOf(outcome)] : []),
  );
}

function shownOf({ result, preview, partial_result }: Outcome): HTMLElement[] {
  const named: [string, unknown][] = [
    ["Result", result],
    ["Preview of a large result", preview],
    ["Partial result", partial_result],
  ];
  return named
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      h(
        "details",
        { "data-name": name, open: true },
        h("summary", {}, name),
        h("pre", { tabindex: 0 }, textOf(value)),
      ),
    );
}

function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return text.length > MOST_TEXT
    ? `${text.slice(0, MOST_TEXT)}\n… ${text.length - MOST_TEXT} more characters`
    : text;
}
