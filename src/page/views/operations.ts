/** Operations: found by their tool, Editor, principal, state, time and words; the newest first, more as the reader scrolls. */
import { addressOf, operationAddress, timeOf } from "../address.js";
import { get, now } from "../api.js";
import { duration, idParts } from "../format.js";
import { h, replace } from "../h.js";
import type { Happened } from "../live.js";
import { type History, hasRole, type Row, type Rows } from "../model.js";
import { progressBar } from "../parts/progress.js";
import { stateBadge } from "../parts/state.js";
import { ago, since } from "../parts/time.js";
import { createVirtualList } from "../parts/virtual-list.js";
import { hasEnded } from "../states.js";
import { nothing, type Page, refused, type View } from "../view.js";
import { filterBar, NARROW } from "./filter-bar.js";

const PAGE = 100;
/** As in style/operations.css. */
const [ROW, ROW_NARROW] = [44, 74];
/** Of the rows in sight beyond the first page, how many are asked for again at once. */
const FOLLOWED = 5;

export function operationsView(page: Page, query: URLSearchParams): View {
  const narrow = window.matchMedia(NARROW);
  const summary = h("p", { class: "summary", role: "status" });
  const below = h("div");
  const fresh = h("button", { type: "button", class: "fresh", hidden: true, onclick: () => showFresh() });
  let rows: Row[] = [];
  let coming: Row[] = [];
  let next: string | undefined;
  let isLoading = false;
  let filterCount = 0;
  let searched = 0;

  const bar = filterBar(page.me, query, () => {
    page.go(addressOf("operations", bar.filter()), "replace");
    void restart();
  });
  const list = createVirtualList<Row>({
    label: "Operations",
    rowHeight: () => (narrow.matches ? ROW_NARROW : ROW),
    keyOf: ({ log_id }) => log_id,
    draw: operationRow,
    onNearEnd: () => void more().catch(() => undefined),
  });

  const ask = (cursor?: string): Promise<Rows> => {
    const asked = bar.filter();
    for (const name of ["since", "until"]) {
      const time = timeOf(asked.get(name) ?? "", now());
      if (time === undefined) asked.delete(name);
      else asked.set(name, time);
    }
    if (!asked.has("principal") && hasRole(page.me, "operate")) asked.set("principal", "*");
    asked.set("limit", String(PAGE));
    if (cursor !== undefined) asked.set("cursor", cursor);
    return get<Rows>("/operations", asked);
  };

  const show = (): void => {
    list.show(rows);
    fresh.hidden = coming.length === 0;
    fresh.textContent = `${coming.length} new above`;
    const more = next === undefined ? "" : "+";
    replace(
      summary,
      h("b", { class: "number" }, `${rows.length.toLocaleString("en")}${more}`),
      rows.length === 1 ? " operation" : " operations",
    );
    replace(
      below,
      next !== undefined &&
        rows.length < PAGE &&
        nothing(`Searching: ${searched.toLocaleString("en")} operations looked at.`),
      rows.length === 0 &&
        next === undefined &&
        (bar.filter().size > 0
          ? nothing("No operation is found.", "Fewer words, other states or another time find more.")
          : nothing(
              hasRole(page.me, "operate") ? "No operation was accepted yet." : "You have no operations yet.",
              "The next call of a tool is shown here: unity-broker call run-tests",
            )),
    );
  };

  const restart = async (): Promise<void> => {
    filterCount += 1;
    const mine = filterCount;
    try {
      const answer = await ask();
      if (mine !== filterCount) return;
      rows = answer.operations;
      next = answer.next;
      searched = answer.searched ?? 0;
      coming = [];
      nameWhose();
      show();
    } catch (error) {
      if (mine !== filterCount) return;
      // Rows of another filter are no answer to this one.
      rows = [];
      next = undefined;
      show();
      replace(below, refused(error));
    }
  };

  const nameWhose = (): void => {
    const whose = bar.filter().get("principal");
    const name = rows.find(({ principal }) => principal === whose)?.principal_name;
    if (whose && name !== undefined) bar.nameWhose(whose, name);
  };

  const more = async (): Promise<void> => {
    if (isLoading || next === undefined) return;
    isLoading = true;
    const mine = filterCount;
    try {
      const answer = await ask(next);
      if (mine !== filterCount) return;
      const known = new Set(rows.map(({ log_id }) => log_id));
      rows = [...rows, ...answer.operations.filter(({ log_id }) => !known.has(log_id))];
      next = answer.next;
      searched += answer.searched ?? 0;
    } finally {
      isLoading = false;
    }
    show();
  };

  const showFresh = (): void => {
    rows = [...coming, ...rows];
    coming = [];
    show();
    window.scrollTo(0, 0);
    list.focus();
  };

  /** The newest page again: what is known changes where it stands, what is new comes on top, or waits until the reader is there. */
  const refresh = async (): Promise<void> => {
    // Nothing is found yet, and the search goes on.
    if (rows.length === 0 && next !== undefined) return;
    if (rows.length === 0) return restart();
    const mine = filterCount;
    const answer = await ask();
    if (mine !== filterCount) return;
    const latest = new Map(answer.operations.map((row) => [row.log_id, row]));
    const known = new Set(rows.map(({ log_id }) => log_id));
    const unknown = answer.operations.filter(({ log_id }) => !known.has(log_id));
    // More came than one page holds: what lies between is not known.
    if (unknown.length === answer.operations.length && unknown.length > 0) return restart();
    rows = rows.map((row) => latest.get(row.log_id) ?? row);
    if (list.isAtTop()) {
      rows = [...unknown, ...rows];
      coming = [];
    } else coming = unknown;
    await follow(latest);
    show();
  };

  /** What is in sight further down, and has not ended, is asked for by itself. */
  const follow = async (latest: ReadonlyMap<string, Row>): Promise<void> => {
    const open = list.seen().filter(({ log_id, state }) => !latest.has(log_id) && !hasEnded(state));
    for (const { log_id } of open.slice(0, FOLLOWED)) {
      const { state, ended_at } = await get<History>(`/operations/${log_id}/history`);
      rows = rows.map((row) =>
        row.log_id === log_id ? { ...row, state, ...(ended_at ? { ended_at } : {}) } : row,
      );
    }
  };

  return {
    title: "Operations",
    search: bar.search,
    refresh: (_happened?: readonly Happened[]) => refresh(),
    onKey: list.onKey,
    close: list.close,
    element: h(
      "section",
      { "aria-labelledby": "title" },
      h("div", { class: "heading" }, h("h1", { id: "title" }, "Operations"), summary),
      bar.element,
      h(
        "div",
        { class: "row columns", "aria-hidden": "true" },
        ...["State", "Tool", "Editor", "Whose", "Calls", "Waited", "Ran", "Accepted"].map((name) =>
          h("span", {}, name),
        ),
      ),
      fresh,
      list.element,
      below,
    ),
  };
}

function operationRow(row: Row): HTMLElement {
  const { name } = idParts(row.editor);
  const calls = 1 + (row.duplicates ?? 0);
  const begun = row.started_at ?? row.sent_at;
  const waitedMs = Date.parse(begun ?? row.ended_at ?? "") - Date.parse(row.accepted_at);
  const ranMs =
    row.execution_ms ??
    (row.started_at && row.ended_at ? Date.parse(row.ended_at) - Date.parse(row.started_at) : undefined);
  const progress = hasEnded(row.state) ? undefined : progressBar(row.progress);
  return h(
    "div",
    { class: "row" },
    h("span", { class: "cell-state" }, stateBadge(row.state)),
    h(
      "span",
      { class: "cell-tool" },
      h("a", { href: operationAddress(row.log_id) }, row.tool),
      errorOf(row),
      progress,
    ),
    h("span", { class: "cell-editor", title: row.editor }, name),
    h("span", { class: "cell-who quiet", title: `Principal ${row.principal}` }, whoOf(row)),
    h(
      "span",
      { class: "cell-calls" },
      calls > 1 && h("span", { class: "calls", title: `${calls} calls, one execution` }, `${calls} → 1`),
    ),
    h(
      "span",
      { class: "cell-waited number quiet" },
      begun === undefined && !hasEnded(row.state) ? since(row.accepted_at) : duration(waitedMs || 0),
    ),
    h(
      "span",
      { class: "cell-ran number" },
      ranMs !== undefined
        ? duration(ranMs)
        : row.started_at && !hasEnded(row.state)
          ? since(row.started_at)
          : "–",
    ),
    h("span", { class: "cell-age quiet" }, ago(row.accepted_at)),
  );
}

/** The name comes first: it is what people filter by. */
function whoOf({ principal, principal_name: name = principal, client }: Row): string {
  return client === undefined ? name : `${name} · ${client}`;
}

function errorOf({ error }: Row): HTMLElement | undefined {
  const text = typeof error === "string" ? error : (error?.code ?? error?.message);
  return text === undefined ? undefined : h("span", { class: "error-code" }, text);
}
