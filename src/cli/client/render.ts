/** What people read: answers, lists and timelines as text, at most 80 columns where nothing is longer by itself. */
import pc from "picocolors";
import type { Answer } from "../../shared/operation/answer.js";
import type { State } from "../../shared/operation/operation.js";
import type { TimelineEntry } from "../../shared/operation/timeline.js";
import { printable, printableJson, printableValues } from "../../shared/printable.js";
import { cut, wrap } from "../columns.js";
import { table } from "../table.js";
import { accepted } from "./broker-client.js";

export type Colours = ReturnType<typeof pc.createColors>;

/** Colours for a terminal only; NO_COLOR and FORCE_COLOR are heard. */
export function coloursFor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): Colours {
  const wanted = env.NO_COLOR ? false : env.FORCE_COLOR ? env.FORCE_COLOR !== "0" : stream.isTTY === true;
  return pc.createColors(wanted);
}

export function stateIn(colours: Colours, state: State | string): string {
  switch (state) {
    case "completed":
      return colours.green(state);
    case "failed":
    case "error":
    case "expired":
      return colours.red(state);
    case "interrupted":
    case "not_found":
      return colours.magenta(state);
    case "cancelled":
      return colours.dim(state);
    default:
      return colours.yellow(state);
  }
}

/**
 * One operation: what became of it, its handle, what to do, and its result. `self`: how this command was called. `remembers`:
 * typed again after this outcome, it runs again (read-by-name.ts).
 */
export function renderAnswer(given: Answer, colours: Colours, self: string, remembers = false): string {
  const { result, partial_result, preview, message, ...rest } = given;
  const answer = { ...printableValues(rest), message: printable(message) };
  const took = answer.execution_ms === undefined ? "" : ` in ${seconds(answer.execution_ms)}`;
  const what = answer.tool === undefined ? "" : `  ${answer.tool} on ${answer.editor}${took}`;
  const shown = result ?? partial_result ?? preview;
  return [
    `${stateIn(colours, answer.state ?? answer.status)}${what}`,
    ...(answer.log_id === undefined ? [] : [colours.dim(`log_id ${answer.log_id}`)]),
    ...(answer.error_code === undefined ? [] : [colours.red(answer.error_code)]),
    ...(answer.status === "completed" && !answer.deduplicated ? [] : [wrap(answer.message)]),
    ...evidenceLines(answer.evidence),
    ...hintsFor({ ...answer, ...(preview ? { preview: printableValues(preview) } : {}) }, self, remembers),
    ...(shown === undefined ? [] : [typeof shown === "string" ? printable(shown) : printableJson(shown)]),
  ].join("\n");
}

/** Of a call that goes on: said at once, so that it can be read whatever becomes of this command. */
export function renderAccepted({ log_id, deduplicated }: Answer, colours: Colours): string {
  const how = deduplicated ? "in flight already" : "accepted";
  return colours.dim(`log_id ${log_id}  ${how}; Ctrl-C detaches`);
}

/** What a person looks at first when nobody knows how it ended. */
function evidenceLines(evidence: Answer["evidence"]): string[] {
  if (!evidence) return [];
  const {
    last_heartbeat_at,
    editor_phase,
    main_thread_stall_ms = 0,
    was_running,
    editor_log = [],
  } = evidence;
  const signs = [
    ...(editor_phase === undefined ? [] : [editor_phase]),
    ...(was_running ? ["running this operation"] : []),
    ...(main_thread_stall_ms < 1_000 ? [] : [`main thread busy for ${seconds(main_thread_stall_ms)}`]),
  ];
  return [
    ...(last_heartbeat_at === undefined
      ? []
      : [wrap(`Last heard of the Editor ${last_heartbeat_at}: ${signs.join(", ")}.`)]),
    ...(editor_log.length === 0
      ? []
      : ["The end of its log:", ...editor_log.map((line) => `  ${cut(line, 76)}`)]),
  ];
}

/** The message speaks to MCP clients; these are the same ways on the command line. */
function hintsFor(answer: Answer, self: string, remembers: boolean): string[] {
  const { status, state, log_id, force_new, error_code, cached, cache_id, size_kb, preview } = answer;
  if (cached) {
    const fields = Object.keys(preview?.item_fields ?? { name: "" }).slice(0, 2);
    return [
      `Its result has ${size_kb} kB; below is what is in it.`,
      `All of it:  ${self} fetch ${cache_id} > all.json`,
      `A part:     the same with --page 1, or --fields ${fields.join(",")}, or --jq`,
    ];
  }
  if (status === "timeout" || status === "running") return [`Read it:  ${self} result ${log_id} --follow`];
  // A call whose outcome was new runs again when it is typed again (read-by-name.ts).
  const isNew = answer.deduplicated === undefined && state !== "interrupted";
  if (force_new !== undefined && state !== undefined && !isNew)
    return [
      `Once more:  ${remembers && state !== "interrupted" ? "type it again" : `add --force-new ${force_new}`}`,
    ];
  return error_code === "NOT_FOUND" ? [`Yours:  ${self} list`] : [];
}

export function renderOperations(operations: readonly Answer[], now: number, colours: Colours): string {
  if (operations.length === 0) return "No operations yet.";
  return table(
    ["LOG_ID", "TOOL", "STATE", "AGE"],
    printableValues(operations).map(({ log_id = "", tool = "", state = "", accepted_at = "" }) => [
      log_id,
      cut(tool, 22),
      stateIn(colours, state),
      age(now - Date.parse(accepted_at)),
    ]),
  );
}

export interface ShownEditor {
  id: string;
  project: string;
  /** Undefined, as the rest: it never answered hello. */
  unity_version?: string;
  connected: boolean;
  paused?: true;
  phase?: string;
  labels?: readonly string[];
  /** `tool`: of one's own operation. */
  running?: { tool?: string; since: string };
  waiting?: number;
  /** Its name, and what that means; none for our own. */
  bridge?: string;
  diagnosis?: { message: string; next: string };
}

/** The Editors in an answer of list_editors, with those that never answered hello. */
export function editorsIn(answer: Partial<Answer>): ShownEditor[] {
  const { editors, unreached } = accepted(answer);
  const never = ((unreached ?? []) as ShownEditor[]).map((editor) => ({ ...editor, connected: false }));
  return [...((editors ?? []) as ShownEditor[]), ...never];
}

export function renderEditors(
  editors: readonly ShownEditor[],
  now: number,
  colours: Colours,
  columns = 80,
): string {
  if (editors.length === 0) return "No Unity Editor has been seen yet: open a project that has the bridge.";
  const shown = printableValues(editors);
  const hasLabels = shown.some(({ labels }) => labels !== undefined);
  const hasWork = shown.some(({ running, waiting }) => running || waiting);
  const hasBridges = shown.some(({ bridge }) => bridge !== undefined);
  const rows = shown.map(
    ({ id, unity_version = "", connected, paused, phase, labels, bridge = "", ...work }) => [
      cut(id, 44),
      cut(unity_version, 14),
      `${connected ? colours.green(phase ?? "connected") : colours.red("away")}${paused ? ", paused" : ""}`,
      ...(hasWork ? [workOf(work, now)] : []),
      ...(hasBridges ? [cut(bridge.split(" ")[0] ?? "", 12)] : []),
      ...(hasLabels ? [cut((labels ?? []).join(","), 30)] : []),
    ],
  );
  const diagnoses = shown.flatMap(({ id, diagnosis }) =>
    diagnosis ? [wrap(`${id}: ${diagnosis.message} ${diagnosis.next}`, Math.min(columns, 80))] : [],
  );
  const head = [
    ...["EDITOR", "UNITY", "STATE"],
    ...(hasWork ? ["RUNS"] : []),
    ...(hasBridges ? ["BRIDGE"] : []),
    ...(hasLabels ? ["LABELS"] : []),
  ];
  return [table(head, rows), ...diagnoses].join("\n");
}

function workOf({ running, waiting = 0 }: Pick<ShownEditor, "running" | "waiting">, now: number): string {
  const runs = running
    ? [`${cut(running.tool ?? "another's", 18)} for ${age(now - Date.parse(running.since))}`]
    : [];
  return [...runs, ...(waiting > 0 ? [`${waiting} waiting`] : [])].join(", ");
}

export interface ShownClient {
  name: string;
  version: string;
  transport: string;
  since: string;
  principal?: string;
  self?: true;
}

/** The MCP clients other than this command; "" if there are none. */
export function renderClients(clients: readonly ShownClient[], now: number): string {
  const others = printableValues(clients).filter(({ self }) => !self);
  if (others.length === 0) return "";
  return table(
    ["MCP CLIENT", "OVER", "FOR", ""],
    others.map(({ name, version, transport, since, principal }) => [
      cut(`${name} ${version}`.trim(), 44),
      transport,
      age(now - Date.parse(since)),
      principal === undefined ? "" : cut(principal, 18),
    ]),
  );
}

/** Of list_unity_tools. */
export interface UnityTool {
  name: string;
  /** Why models are not offered it. */
  not_in_list?: string;
}

export function renderTools(
  tools: readonly { name: string; description?: string | undefined; readOnly: boolean }[],
  colours: Colours,
  columns = 80,
  unity: readonly UnityTool[] = [],
): string {
  const shown = tools.map(({ description = "", ...tool }) =>
    printableValues({ ...tool, description: description.split("\n")[0] ?? "" }),
  );
  if (shown.length === 0) return "No tools yet: no Unity Editor has published its tools.";
  const unlisted = unity.flatMap(({ name, not_in_list: why }) =>
    why === undefined
      ? []
      : [printable(`\nModels are not offered ${name}: ${why}. \`call\` and \`run\` take it.`)],
  );
  const listed = table(
    ["TOOL", "", "DESCRIPTION"],
    shown.map(({ name, description, readOnly }) => [
      cut(name, 28),
      readOnly ? colours.dim("reads") : "",
      cut(description, columns - BESIDE_DESCRIPTION),
    ]),
  );
  return [listed, ...unlisted].join("\n");
}

/** The longest name, "reads", and what is between them. */
const BESIDE_DESCRIPTION = 38;

export interface History {
  log_id?: string;
  tool?: string;
  client?: string;
  message: string;
  timeline: TimelineEntry[];
}

export function renderTimeline(answer: History, colours: Colours): string {
  const rows = printableValues(answer.timeline).map((entry) => [
    colours.dim(timeOf(entry)),
    stateIn(colours, entry.event),
    entry.detail ?? "",
  ]);
  return [renderHeading(answer, colours), table([], rows), wrap(printable(answer.message))].join("\n");
}

/** Whose history it is, and on which day it begins. */
export function renderHeading(answer: History, colours: Colours): string {
  const { timeline, tool, log_id, client } = printableValues(answer);
  const [first] = timeline;
  return [
    `${tool}  ${colours.dim(`log_id ${log_id}`)}`,
    ...(client === undefined ? [] : [colours.dim(`called by ${client}`)]),
    ...(first ? [colours.dim(`${first.at.slice(0, 10)} (UTC)`)] : []),
  ].join("\n");
}

const EVENT_WIDTH = 11;

/** One entry as a line of its own, while others are still to come. */
export function renderEntry(given: TimelineEntry, colours: Colours): string {
  const entry = printableValues(given);
  const event = stateIn(colours, entry.event) + " ".repeat(Math.max(0, EVENT_WIDTH - entry.event.length));
  return `${colours.dim(timeOf(entry))}  ${event}  ${entry.detail ?? ""}`.trimEnd();
}

const timeOf = ({ at }: TimelineEntry): string => at.slice(11, 23);

function seconds(ms: number): string {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function age(ms: number): string {
  const steps: [number, string][] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
  ];
  const [size, unit] = steps.find(([least]) => ms >= least) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`;
}
