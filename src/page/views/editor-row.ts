/** One Editor, as a row; opened, its queue. */
import { addressOf, operationAddress } from "../address.js";
import { act, get } from "../api.js";
import { age, count, duration, idParts } from "../format.js";
import { type Child, h, replace } from "../h.js";
import type { Editor, Row, Rows } from "../model.js";
import { attempt, confirmed } from "../parts/dialog.js";
import { progressBar } from "../parts/progress.js";
import { shape } from "../parts/state.js";
import { since } from "../parts/time.js";
import { type EditorStanding, STALL_MS, STANDINGS } from "./editor-standing.js";

export interface EditorRowOptions {
  mayOperate: boolean;
  refresh(): Promise<void>;
}

export function editorRow(editor: Editor, standing: EditorStanding, options: EditorRowOptions): HTMLElement {
  const { name, rest } = idParts(editor.id);
  const look = STANDINGS.find(({ is }) => is === standing);
  return h(
    "li",
    { class: `editor standing-${standing}` },
    h(
      "div",
      { class: "editor-name" },
      h(
        "span",
        { class: "mark", title: look?.word ?? "" },
        shape(look?.shape ?? ""),
        h("span", { class: "unseen" }, `${look?.word}: `),
      ),
      h("a", { href: byEditor(editor.id), "data-focus": `${editor.id} name` }, h("strong", {}, name)),
      h("span", { class: "id" }, rest),
      ...(editor.labels ?? []).map((label) => h("span", { class: "label" }, label)),
    ),
    h("div", { class: "editor-now" }, ...nowOf(editor)),
    h("div", { class: "editor-queue" }, queueOf(editor)),
    h("div", { class: "editor-machine" }, ...machineOf(editor)),
    options.mayOperate && h("div", { class: "editor-actions" }, ...actionsOf(editor, options)),
    editor.diagnosis &&
      h("p", { class: "diagnosis" }, editor.diagnosis.message, " ", h("b", {}, editor.diagnosis.next)),
  );
}

function byEditor(id: string): string {
  return addressOf("operations", new URLSearchParams({ editor: id }));
}

function nowOf({
  connected,
  phase,
  stall_ms = 0,
  running,
  paused,
  last_seen_seconds_ago: seen,
}: Editor): Child[] {
  if (!connected)
    return [
      h("span", { class: "quiet" }, seen === undefined ? "Away" : `Away, last seen ${age(seen * 1_000)}`),
    ];
  const tool = running?.tool ?? "an operation of another principal";
  const what =
    running &&
    h(
      "span",
      { class: "running" },
      running.log_id === undefined
        ? h("span", {}, tool)
        : h("a", { href: operationAddress(running.log_id) }, tool),
      " ",
      since(running.since),
      running.principal !== undefined &&
        h(
          "span",
          { class: "quiet", title: `Principal ${running.principal}` },
          ` · ${running.principal_name ?? running.principal}`,
        ),
    );
  return [
    what || h("span", {}, paused ? "Paused: takes nothing" : "Idle"),
    paused && running && h("span", { class: "note" }, "Draining: ends this, then takes nothing"),
    running && progressBar(running.progress),
    h(
      "span",
      { class: "quiet" },
      phase === undefined ? "" : phase.replaceAll("_", " "),
      // An operation on the main thread keeps it from answering: that is no news.
      !running &&
        stall_ms >= STALL_MS &&
        h("b", { class: "stall" }, ` · main thread silent for ${duration(stall_ms)}`),
    ),
  ];
}

/** What waits; opened, in which order and until when. */
function queueOf({ id, waiting = 0 }: Editor): Child {
  if (waiting === 0) return h("span", { class: "quiet" }, "Nothing waits");
  const list = h("ol", { class: "queue" });
  const fill = async (): Promise<void> => {
    const query = new URLSearchParams({ editor: id, state: "queued", limit: "20", principal: "*" });
    const { operations } = await get<Rows>("/operations", query);
    replace(
      list,
      ...operations.sort((a, b) => (a.queue_position ?? 0) - (b.queue_position ?? 0)).map(queued),
    );
  };
  const details = h(
    "details",
    {
      "data-name": "queue",
      ontoggle: () => {
        if (details.open) void fill().catch((error: Error) => replace(list, h("li", {}, error.message)));
      },
    },
    h(
      "summary",
      { "data-focus": `${id} queue` },
      h("b", { class: "number" }, String(waiting)),
      waiting === 1 ? " waits" : " wait",
    ),
    list,
  );
  return details;
}

function queued(row: Row): HTMLElement {
  const starts = row.estimated_start_seconds;
  return h(
    "li",
    {},
    h("a", { href: operationAddress(row.log_id) }, row.tool),
    row.queue_position !== undefined &&
      h("span", { class: "quiet number" }, ` ${row.queue_position} before it`),
    starts !== undefined &&
      h("span", { class: "quiet number" }, ` · starts in about ${duration(starts * 1_000)}`),
    h(
      "span",
      { class: "quiet", title: `Principal ${row.principal}` },
      ` · ${row.principal_name ?? row.principal}`,
    ),
    row.client !== undefined && h("span", { class: "quiet" }, ` · ${row.client}`),
  );
}

function machineOf({ host, pid, unity_version, cpu_percent, memory_mb, bridge }: Editor): Child[] {
  const load = [
    cpu_percent === undefined ? undefined : `${Math.round(cpu_percent)} % CPU`,
    memory_mb === undefined
      ? undefined
      : memory_mb >= 1_000
        ? `${(memory_mb / 1_000).toFixed(1)} GB`
        : `${Math.round(memory_mb)} MB`,
  ].filter((part) => part !== undefined);
  const place = [host, unity_version, bridge === undefined ? undefined : "no ledger"].filter(Boolean);
  return [
    load.length > 0 && h("span", { class: "number" }, load.join(" · ")),
    h("span", { class: "quiet", title: pid === undefined ? "" : `Process ${pid}` }, place.join(" · ")),
  ];
}

function actionsOf(editor: Editor, { refresh }: EditorRowOptions): Child[] {
  const path = `/editors/${encodeURIComponent(editor.id)}`;
  const { name } = idParts(editor.id);
  const button = (text: string, what: () => Promise<void>): HTMLElement =>
    h(
      "button",
      {
        type: "button",
        class: "small",
        "data-focus": `${editor.id} ${text}`,
        "aria-label": `${text} ${name}`,
        onclick: () => void what(),
      },
      text,
    );
  const doing = (verb: string, said: string) => () =>
    attempt(async () => {
      await act("POST", `${path}/${verb}`);
      await refresh();
      return said;
    });
  const forget = async (): Promise<void> => {
    const text = `Its queue and its tools leave the broker. If it connects again, it is known again.`;
    if (!(await confirmed({ title: `Forget ${name}?`, text, yes: "Forget it" }))) return;
    await attempt(async () => {
      await act("DELETE", path);
      await refresh();
      return `${name} is forgotten.`;
    });
  };
  const drain = async (): Promise<void> => {
    const waits = editor.waiting ? ` ${count(editor.waiting, "operation")} that name it go on waiting.` : "";
    const text = `What runs is finished; nothing new begins until it is resumed.${waits}`;
    if (await confirmed({ title: `Drain ${name}?`, text, yes: "Drain it" }))
      await doing("drain", `${name} takes nothing more.`)();
  };
  if (editor.paused)
    return [
      button("Resume", doing("resume", `${name} takes work again.`)),
      !editor.connected && button("Forget", forget),
    ];
  if (!editor.connected)
    return [button("Pause", doing("pause", `${name} is paused.`)), button("Forget", forget)];
  return [button("Pause", doing("pause", `${name} is paused.`)), editor.running && button("Drain", drain)];
}
