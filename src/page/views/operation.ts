/** One operation: why it ran once, its story on an axis of time, and what is known of it. */
import { addressOf } from "../address.js";
import { act, get, now } from "../api.js";
import { duration, moment, percent } from "../format.js";
import { type Child, h, replace } from "../h.js";
import type { Happened } from "../live.js";
import { type History, hasRole, type Line, type Row, type Rows } from "../model.js";
import { attempt, confirmed } from "../parts/dialog.js";
import { progressBar } from "../parts/progress.js";
import { stateBadge } from "../parts/state.js";
import { hasEnded } from "../states.js";
import { chart } from "../story/chart.js";
import { type Mark, storyOf } from "../story/story.js";
import { type Page, refused, type View } from "../view.js";
import { factsOf, outcomeOf } from "./facts.js";

/** While it goes on, the chart moves this often, ms. */
const MOVE_MS = 1_000;

/** To look at an operation changes nothing: its outcome is delivered to nobody by that. */
const LOOK = new URLSearchParams({ look: "true" });

interface Detail {
  message?: string;
  partial_result?: unknown;
  result?: unknown;
  preview?: unknown;
}

export function operationView(page: Page, logId: string): View {
  const path = `/operations/${encodeURIComponent(logId)}`;
  const heading = h("div", { class: "operation-heading" });
  const headline = h("div", { class: "headline" });
  const picture = h("div");
  const facts = h("div");
  const lines = h("ol", { class: "console" });
  const consolePart = h(
    "section",
    { hidden: true, "aria-labelledby": "console" },
    h("h2", { id: "console" }, "Console"),
    lines,
  );
  const seen: Mark[] = [];
  let history: History | undefined;
  let detail: Detail | undefined;
  let lastLine = 0;
  let lastProgress = "";

  const isOwn = (): boolean => history?.principal === undefined || history.principal === page.me.principal;

  const refresh = async (happened?: readonly Happened[]): Promise<void> => {
    if (happened && history && !happened.some(({ log_id }) => log_id === logId)) return;
    try {
      history = await get<History>(`${path}/history`);
      if (!hasEnded(history.state)) history = { ...history, ...(await rowNow()) };
    } catch (error) {
      if (!history)
        replace(
          headline,
          refused(error),
          h(
            "a",
            { href: addressOf("operations") },
            hasRole(page.me, "operate") ? "All operations" : "Your operations",
          ),
        );
      throw error;
    }
    noteProgress();
    draw();
    if (!isOwn()) return;
    detail = await get<Detail>(path, LOOK);
    draw();
    await readLines();
  };

  /** Where it stands in the queue and how far it has come; an open operation is among the newest. */
  const rowNow = async (): Promise<Partial<Row>> => {
    const query = new URLSearchParams({
      q: logId,
      limit: "1",
      ...(hasRole(page.me, "operate") ? { principal: "*" } : {}),
    });
    const { operations } = await get<Rows>("/operations", query);
    return operations[0] ?? {};
  };

  /** Others' lines are not shown, also not to operators. */
  const readLines = async (): Promise<void> => {
    const after = new URLSearchParams({ after: String(lastLine) });
    const log = await get<{ lines: Line[]; next: number }>(`${path}/log`, after);
    lastLine = log.next;
    for (const { type, message } of log.lines)
      lines.append(h("li", { class: `line-${type}` }, type !== "log" && h("b", {}, `${type}: `), message));
    consolePart.hidden = lines.childElementCount === 0;
  };

  /** The broker keeps the latest report only: the earlier ones are those that the reader saw come. */
  const noteProgress = (): void => {
    const { progress } = history ?? {};
    if (!history || !progress || hasEnded(history.state)) return;
    const part = percent(progress);
    const text = `${part === undefined ? progress.progress : `${part} %`} ${progress.message ?? ""}`.trim();
    if (text !== lastProgress) seen.push({ at: now(), kind: "progress", text });
    lastProgress = text;
  };

  const draw = (): void => {
    if (!history) return;
    const story = storyOf(history, seen, now());
    const ran = history.timeline.some(({ event }) => event === "started");
    replace(heading, ...headingOf(history), cancelButton(history));
    replace(
      headline,
      h(
        "p",
        { class: "ratio" },
        h(
          "span",
          {},
          h("b", { class: "number" }, String(story.calls)),
          story.calls === 1 ? " call" : " calls",
        ),
        h("span", { class: "arrow", "aria-hidden": "true" }, "→"),
        h("span", {}, h("b", { class: "number" }, ran ? "1" : "0"), ran ? " execution" : " executions"),
      ),
      h("p", { class: "why" }, history.why_once),
      !hasEnded(history.state) && progressBar(history.progress),
    );
    replace(picture, chart(story, history.state));
    replace(
      facts,
      factsOf(history),
      timelineOf(history),
      isOwn()
        ? outcomeOf(detail, history.state)
        : h(
            "p",
            { class: "quiet" },
            "Arguments, result and Console lines are its principal's own, and are not shown.",
          ),
    );
  };

  const cancelButton = (current: History): Child => {
    if (hasEnded(current.state)) return undefined;
    return h(
      "button",
      { type: "button", class: "small", "data-focus": "cancel", onclick: () => void cancel(current) },
      "Cancel it",
    );
  };
  const cancel = async ({ tool, state }: History): Promise<void> => {
    const text =
      state === "queued"
        ? "It has not begun: it leaves the queue, and nothing is executed."
        : "The Editor is asked to end it. What it has done by then stays done.";
    if (!(await confirmed({ title: `Cancel ${tool}?`, text, yes: "Cancel the operation" }))) return;
    await attempt(async () => {
      const { message = "Its cancellation was asked for." } = await act<Detail>("POST", `${path}/cancel`);
      await refresh();
      return message;
    });
  };

  const timer = window.setInterval(() => {
    const isRead = picture.contains(document.activeElement) || document.querySelector("dialog[open]");
    if (history && !hasEnded(history.state) && !document.hidden && !isRead)
      replace(picture, chart(storyOf(history, seen, now()), history.state));
  }, MOVE_MS);

  return {
    title: `Operation ${logId.slice(0, 8)}`,
    refresh,
    everyMs: 2_000,
    close: () => window.clearInterval(timer),
    onKey({ key }) {
      if (key !== "u") return false;
      page.go(addressOf("operations"));
      return true;
    },
    element: h("article", { class: "operation" }, heading, headline, picture, facts, consolePart),
  };
}

function headingOf({ tool, state, log_id }: History): Child[] {
  return [
    h("a", { class: "back", href: addressOf("operations"), "data-focus": "back" }, "Operations"),
    h("h1", {}, tool),
    stateBadge(state),
    h("code", { class: "id" }, log_id),
  ];
}

function timelineOf({ timeline }: History): HTMLElement {
  const first = Date.parse(timeline[0]?.at ?? "");
  return h(
    "section",
    { "aria-labelledby": "events" },
    h("h2", { id: "events" }, "What happened"),
    h(
      "ol",
      { class: "events" },
      ...timeline.map(({ at, event, detail }) =>
        h(
          "li",
          {},
          h(
            "time",
            { datetime: at, title: moment(at), class: "number quiet" },
            `+${duration(Date.parse(at) - first)}`,
          ),
          h("b", {}, event),
          h("span", {}, detail ?? ""),
        ),
      ),
    ),
  );
}
