/**
 * One pure table from the signs of an Editor to a diagnosis: what keeps it from working, and what a person can do about it.
 * Nothing here ends, repeats or cancels an operation.
 */
import {
  DIAGNOSIS_LIMITS,
  type Diagnosis,
  type DiagnosisLimits,
  type EditorHolder,
  type EditorSigns,
  SOMEBODYS,
} from "./diagnosis.js";

const LOOK = "Look at the Unity window";
const RESUMES = "waiting operations then start by themselves; do not restart Unity for them";

export function diagnose(
  signs: EditorSigns,
  limits: DiagnosisLimits = DIAGNOSIS_LIMITS,
): Diagnosis | undefined {
  if (signs.isStoreFull) return STORE_FULL;
  if (signs.connection.is !== "ready") return diagnoseConnection(signs, limits);
  return diagnoseEditor(signs, limits) ?? diagnoseTools(signs);
}

function diagnoseTools({ toolsLeftOut, project }: EditorSigns): Diagnosis | undefined {
  return (
    toolsLeftOut && {
      code: "TOOLS_LEFT_OUT",
      message: `${toolsLeftOut.count} tool(s) of ${project} are not offered: ${toolsLeftOut.reasons.join("; ")}.`,
      next: "Change or remove them in the project, or raise UNITY_BROKER_MAX_TOOLS or UNITY_BROKER_TOOL_LIST_KB. All its other tools work.",
    }
  );
}

/** Why there is no connection. */
function diagnoseConnection(signs: EditorSigns, limits: DiagnosisLimits): Diagnosis | undefined {
  const { connection, address, project } = signs;
  if (connection.is !== "lost") return undefined;
  const { refusal, because, forMs } = connection;
  const seconds = Math.round(forMs / 1000);
  switch (refusal?.why) {
    case "wrong_editor":
      return {
        code: "WRONG_PROJECT",
        message: `Another project answers at ${address}: ${refusal.found} instead of ${project}. Nothing was sent to it.`,
        next: `Restart the Editor of ${project}, so that it takes a free port and rewrites its endpoint file, or name the other Editor.`,
      };
    case "token":
      return {
        code: "PORT_NOT_PROVEN",
        message: `The program that listens at ${address} does not hold the token of ${project}'s endpoint file: another program has taken the port, or the file is outdated. Nothing was run there, and the token was not sent.`,
        next: "Restart the Editor, or stop and start the bridge in its window, so that it rewrites the file. Worker and Editor must run as the same user.",
      };
    case "foreign_broker":
      return {
        code: "FOREIGN_BROKER",
        message: `The Editor of ${project} belongs to another broker${holder(refusal)}, and accepts calls only from that one.`,
        next: `Use that broker, or stop it: the Editor is free a minute later. To take it over at once, run \`unity-broker editors claim "${project}"\` on the machine of this broker's worker, or hand it over in the bridge's window; ${RESUMES}.`,
      };
    case "plain":
      return {
        code: "HELLO_REFUSED",
        message: `A plain uLoop bridge answers at ${address}, where the Editor of ${project} said that its own bridge listens. Nothing was sent to it.`,
        next: "If that is another project, restart the Editor. To use an Editor without our bridge, name it in UNITY_BROKER_EDITORS.",
      };
    case "unverified":
      return {
        code: "HELLO_REFUSED",
        message: refusal.message,
        next: "Close dialogs in the Editor and let it finish; if that does not help, update its bridge.",
      };
    case "ledger":
      return {
        code: "LEDGER_UNAVAILABLE",
        message: `The Editor of ${project} runs nothing until it can write down what it begins. ${refusal.message}`,
        next: `Help its disk; ${RESUMES}.`,
      };
    case "other":
      return {
        code: "HELLO_REFUSED",
        message: `The bridge of ${project} refuses this broker: ${refusal.message}`,
        next: "Install a bridge and a broker of the same version.",
      };
  }
  if (because === "not_ours") {
    return {
      code: "PORT_TAKEN",
      message: `A program that is not a Unity bridge answers at ${address}, where the Editor of ${project} said that it listens.`,
      next: "End that program or change its port, then restart the Editor.",
    };
  }
  const stuck = diagnoseScripts(signs);
  if (stuck) return stuck;
  const isReloading = signs.phase === "reloading" || signs.phase === "compiling";
  if (signs.pid === undefined) return diagnoseSilence(signs, limits);
  if (because === "closed" && forMs >= (isReloading ? limits.announcedReloadMs : limits.reloadMs)) {
    const process = `Unity (process ${signs.pid})`;
    return {
      code: "BRIDGE_NOT_LOADED",
      message: `${process} runs with ${project}, but its bridge has not listened at ${address} for ${seconds} s: scripts do not compile, the Editor is in Safe Mode, or it is still loading.`,
      next: `${LOOK}: fix compile errors in the Console, leave Safe Mode, or let it finish loading; ${RESUMES}.`,
    };
  }
  if (because === "silent" && forMs >= limits.reloadMs) {
    return {
      code: "EDITOR_SILENT",
      message: `Unity's process is alive, but has not answered at ${address} for ${seconds} s, not even from its background threads: it hangs completely, or is stopped in a debugger.`,
      next: `${LOOK}; continue the debugger if one is attached. End Unity only if that does not help: the operation that ran is then reported as interrupted.`,
    };
  }
  return undefined;
}

/** A configured Editor that wrote no endpoint file: it may not even be running. */
function diagnoseSilence(
  { connection, address, project }: EditorSigns,
  limits: DiagnosisLimits,
): Diagnosis | undefined {
  if (connection.is !== "lost" || connection.forMs < limits.reloadMs) return undefined;
  const seconds = Math.round(connection.forMs / 1000);
  if (connection.because === "closed") {
    return {
      code: "BRIDGE_NOT_LOADED",
      message: `Nothing has listened at ${address}, the configured address of ${project}, for ${seconds} s: Unity is not running, its bridge is stopped, or its scripts do not compile.`,
      next: `Open the project, start its bridge, or fix the name in UNITY_BROKER_EDITORS; ${RESUMES}.`,
    };
  }
  if (connection.because !== "silent") return undefined;
  return {
    code: "EDITOR_SILENT",
    message: `The Editor of ${project} has not answered at ${address} for ${seconds} s: a plain bridge answers nothing while Unity's main thread is busy or a dialog is open.`,
    next: `${LOOK} and answer the dialog, or let it work; ${RESUMES}.`,
  };
}

/** There is a connection; does Unity make progress? */
function diagnoseEditor(signs: EditorSigns, limits: DiagnosisLimits): Diagnosis | undefined {
  const { connection, phase } = signs;
  if (connection.is !== "ready") return undefined;
  const { stallMs, focused, running } = connection;
  const stalled = `${Math.round(stallMs / 1000)} s`;
  if (running) {
    if (running.forMs < running.usualMs) return undefined;
    const minutes = Math.max(1, Math.round(running.forMs / 60_000));
    if (stallMs >= limits.stallMs) {
      return {
        code: "MAIN_THREAD_BUSY",
        running: running.operation,
        message: `${SOMEBODYS} has run for ${minutes} min, longer than such calls usually take, and Unity's main thread has not answered for ${stalled}. It may be working, or a dialog that it opened may be waiting for an answer.`,
        next: `${LOOK} and answer the dialog if one is open. Otherwise let it work; the broker does not run it again.`,
      };
    }
    if (focused !== false) return undefined;
    return { ...unfocused(`${SOMEBODYS} has run for ${minutes} min`), running: running.operation };
  }
  const stuck = diagnoseScripts(signs);
  if (stuck) return stuck;
  if (stallMs < limits.stallMs) return undefined;
  if (phase !== undefined && phase !== "ready") {
    return stallMs < limits.ownWorkMs
      ? undefined
      : {
          code: "UNITY_AT_WORK",
          message: `Unity is busy with its own work (${phase}), and its main thread has not answered for ${stalled}.`,
          next: `${LOOK}: a progress bar moves while it works, a dialog waits for an answer; ${RESUMES}.`,
        };
  }
  if (focused === false) return unfocused(`Its main thread has not answered for ${stalled}`);
  return {
    code: "MODAL_DIALOG",
    message: `Unity's main thread has not answered for ${stalled} although no operation runs: a modal dialog may be open (save the scene? an error, an import), or Unity is in the background.`,
    next: `${LOOK} and answer the dialog, or click into it; ${RESUMES}.`,
  };
}

const STORE_FULL: Diagnosis = {
  code: "STORE_FULL",
  message:
    "An operation of this Editor has ended, and the stored results leave no room for its result. The Editor keeps the result meanwhile.",
  next: "It is stored when there is room: after the retention of other results ends, or with a larger UNITY_BROKER_RESULTS_BUDGET_MB or UNITY_BROKER_PRINCIPAL_SHARE. Nothing is executed again.",
};

function diagnoseScripts({ phase, project }: EditorSigns): Diagnosis | undefined {
  switch (phase) {
    case "safe_mode":
      return {
        code: "SAFE_MODE",
        message: `The Editor of ${project} is in Safe Mode because its scripts do not compile. No tool can run.`,
        next: `Fix the compile errors in its Console and leave Safe Mode; ${RESUMES}.`,
      };
    case "compile_errors":
      return {
        code: "COMPILE_ERRORS",
        message: `The scripts of ${project} do not compile: Unity keeps running the old ones, so tools that need the new ones may fail.`,
        next: "Fix the errors in the Console (get-logs reads it), then compile again.",
      };
    default:
      return undefined;
  }
}

function unfocused(what: string): Diagnosis {
  return {
    code: "UNFOCUSED",
    message: `${what}, and Unity's window is in the background, where the system may throttle it.`,
    next: "Click into the Unity window; in Preferences > General, set Interaction Mode to No Throttling.",
  };
}

function holder({ boundTo, since, connected, brokerId, version }: EditorHolder): string {
  const known = [
    brokerId,
    version === undefined ? undefined : `version ${version}`,
    boundTo === undefined ? undefined : `store ${boundTo}`,
    since === undefined ? undefined : `since ${new Date(since).toISOString()}`,
  ].filter((each) => each !== undefined);
  const who = known.length === 0 ? "" : ` (${known.join(", ")})`;
  return connected === undefined ? who : `${who}, which is ${connected ? "" : "not "}connected to it now`;
}

// Choice of target (▲4): which Editors must be back before a call that names no Editor may be sent: after the store was
// lost, the operation that such a call repeats may be in the ledger of an Editor that the store does not know yet
// (▲13).

/** The Editors as noted outside the store. */
export interface NotedEditors {
  /** The store's incarnation in which it knew everything that these Editors ran. */
  incarnation: string;
  /** When a change of incarnation was first seen, ms, store clock … */
  changedAt?: number | undefined;
  /** … and the incarnation it changed to. A further loss restarts the time, since it lost younger operations. */
  changedTo?: string | undefined;
  /** By id. */
  editors: Record<string, NotedEditor>;
}

export interface NotedEditor {
  /** When the store saw it last before it went away, ms; undefined: it was connected, or had an open operation. */
  leftAt?: number | undefined;
}

/** An Editor as the store knows it now. */
export interface StoredEditor {
  id: string;
  isLive: boolean;
  /** An operation waits for it or was sent to it. */
  hasOpen: boolean;
  /** ms since the epoch, store clock. */
  lastSeenAt: number;
  /** The incarnation in which its ledger was last imported. */
  importedIn: string | undefined;
}

export interface StoreNow {
  incarnation: string;
  editors: readonly StoredEditor[];
  /** ms since the epoch, store clock. */
  now: number;
  /** How long outcomes are kept, ms: after that, no ledger answers a call from before the loss. */
  retentionMs: number;
  /** The Editors that a person has given up in this incarnation. */
  givenUp?: readonly string[];
}

/**
 * What to note now, and which Editors to wait for. In the noted incarnation: none. In another one: each noted Editor whose
 * ledger was not imported in it, unless it was away and the store still knows that. The note keeps its incarnation until no
 * Editor is missing.
 */
export function compareEditors(
  noted: NotedEditors | undefined,
  { incarnation, editors, now, retentionMs, givenUp = [] }: StoreNow,
): { noted: NotedEditors; missing: string[] } {
  const asTheyAre = editors.map(asItIs);
  const settled = { noted: { incarnation, editors: Object.fromEntries(asTheyAre) }, missing: [] };
  if (noted === undefined || noted.incarnation === incarnation) return settled;
  const changedAt = noted.changedTo === incarnation ? (noted.changedAt ?? now) : now;
  if (now - changedAt >= retentionMs) return settled;
  const known = new Map(editors.map((editor) => [editor.id, editor]));
  const missing = Object.entries(noted.editors).filter(
    ([id, editor]) => !isBack(editor, known.get(id), incarnation) && (known.has(id) || !givenUp.includes(id)),
  );
  if (missing.length === 0) return settled;
  const still = missing.map(([id, editor]) => [id, known.get(id)?.isLive ? {} : editor] as const);
  return {
    noted: {
      incarnation: noted.incarnation,
      changedAt,
      changedTo: incarnation,
      editors: Object.fromEntries([...asTheyAre, ...still]),
    },
    missing: missing.map(([id]) => id),
  };
}

/** More than two gateways that look at different moments can be apart. */
const REMEMBERED = 50;

/** The incarnations seen so far, the present one last. */
export function seenWith(seen: readonly string[] | undefined, incarnation: string): string[] {
  return [...(seen ?? []).filter((each) => each !== incarnation), incarnation].slice(-REMEMBERED);
}

/**
 * Store incarnation (▲13): is the store an older copy of itself, which does not know that it has lost something? True
 * if its Redis run is neither the noted one nor the next, or if its incarnation had already ended.
 */
export function isOlderCopy(
  noted: { incarnation: string; run?: string | undefined; seen?: readonly string[] | undefined },
  store: { incarnation: string; runs: readonly string[] },
): boolean {
  if (noted.seen?.slice(0, -1).includes(store.incarnation)) return true;
  if (noted.run === undefined || noted.incarnation !== store.incarnation) return false;
  return !store.runs.includes(noted.run);
}

/** A loss removes the latest writes: a store that knows that the Editor left also knows what it ran. */
function isBack({ leftAt }: NotedEditor, stored: StoredEditor | undefined, incarnation: string): boolean {
  if (stored === undefined) return false;
  if (stored.importedIn === incarnation) return true;
  return leftAt !== undefined && !stored.isLive && stored.lastSeenAt >= leftAt;
}

/** An Editor with an open operation may come and run it unseen, so its departure is not noted. */
function asItIs({ id, isLive, hasOpen, lastSeenAt }: StoredEditor): [string, NotedEditor] {
  return [id, isLive || hasOpen ? {} : { leftAt: lastSeenAt }];
}
