/**
 * What keeps an Editor from working, and what a person does about it. One pure table from what is known of an Editor;
 * nothing here ends, repeats or cancels an operation.
 */

export type TroubleCode =
  | "COMPILE_ERRORS"
  | "SAFE_MODE"
  | "BRIDGE_NOT_LOADED"
  | "EDITOR_SILENT"
  | "WRONG_PROJECT"
  | "PORT_TAKEN"
  | "TOKEN_REFUSED"
  | "FOREIGN_BROKER"
  | "HELLO_REFUSED"
  | "MODAL_DIALOG"
  | "MAIN_THREAD_BUSY"
  | "UNITY_AT_WORK"
  | "UNFOCUSED"
  | "STORE_FULL"
  /** src/shared/endpoint-trouble.ts */
  | "ENDPOINT_REFUSED";

export interface Trouble {
  code: TroubleCode;
  /** What is the matter, in whole sentences. */
  message: string;
  /** What to do about it. */
  next: string;
  /** The operation that it is about: who else is told of it learns neither its tool nor whose it is. */
  running?: { tool: string; principal: string } | undefined;
}

/** Hello was answered by a refusal. */
export type HelloRefusal =
  | { why: "wrong_editor"; found: string }
  | { why: "token" }
  /** By its store's id; since when, ms since the epoch. */
  | { why: "foreign_broker"; boundTo?: string | undefined; since?: number | undefined }
  /** It knows no hello, and was not named as an Editor without one. */
  | { why: "plain" }
  | { why: "other"; message: string };

/** Times in ms. */
export interface EditorSigns {
  project: string;
  /** Of the Editor's process, which lives; undefined: nobody knows whether it does. */
  pid: number | undefined;
  /** host:port */
  address: string;
  /** What it said last that it is doing. */
  phase: string | undefined;
  /** An outcome of this Editor waits for room in the store. */
  isStoreFull?: boolean;
  connection:
    | {
        is: "ready";
        /** Since its main thread last answered. */
        stallMs: number;
        /** Whether its window has the focus, where the bridge says so. */
        focused: boolean | undefined;
        /** What it executes, how long already, and how long that usually may take. */
        running: { operation: Trouble["running"]; forMs: number; usualMs: number } | undefined;
      }
    | {
        is: "lost";
        forMs: number;
        /** `closed`: nobody listens. `silent`: no answer. `not_ours`: an answer that is not our protocol. */
        because: "closed" | "silent" | "not_ours" | "other";
        refusal?: HelloRefusal | undefined;
      };
}

/** How long something may last before it is a trouble, ms. */
export interface TroubleLimits {
  /** A domain reload closes the port for seconds, in large projects for longer … */
  reloadMs: number;
  /** … and one that was announced may take its time. */
  announcedReloadMs: number;
  /** Unity's main thread answers many times a second unless something holds it. */
  stallMs: number;
  /** Unity's own work (imports, compilation) may hold the main thread for this long before anybody should look. */
  ownWorkMs: number;
}

export const TROUBLE_LIMITS: TroubleLimits = {
  reloadMs: 15_000,
  announcedReloadMs: 120_000,
  stallMs: 10_000,
  ownWorkMs: 300_000,
};

/** The trouble itself as this principal is told it, without what the store keeps beside it. */
export function publicTrouble({ code, message, next, running }: Trouble, principal: string): Trouble {
  const isOwn = running?.principal === principal;
  return { code, message: isOwn ? message.replace(SOMEBODYS, running.tool) : message, next };
}

const SOMEBODYS = "An operation";

const LOOK = "Look at the Unity window";
const RESUMES = "waiting operations then start by themselves; do not restart Unity for them";

export function troubleOf(signs: EditorSigns, limits: TroubleLimits = TROUBLE_LIMITS): Trouble | undefined {
  if (signs.isStoreFull) return STORE_FULL;
  return signs.connection.is === "ready" ? troubleInside(signs, limits) : troubleReaching(signs, limits);
}

/** There is no connection: why not? */
function troubleReaching(signs: EditorSigns, limits: TroubleLimits): Trouble | undefined {
  const { connection, address, project } = signs;
  if (connection.is !== "lost") return undefined;
  const { refusal, because, forMs } = connection;
  const seconds = Math.round(forMs / 1000);
  switch (refusal?.why) {
    case "wrong_editor":
      return {
        code: "WRONG_PROJECT",
        message: `Another project answers at ${address}: ${refusal.found} instead of ${project}. Nothing was sent to it.`,
        next: `Restart the Editor of ${project}, so that it takes a free port and writes its endpoint file again, or name the other Editor.`,
      };
    case "token":
      return {
        code: "TOKEN_REFUSED",
        message: `What listens at ${address} does not hold the token of ${project}'s endpoint file: another program has taken the port, or the file is an old one. Nothing was run there, and the token was not shown.`,
        next: "Restart the Editor, or stop and start the bridge in its window, so that the file is written again; worker and Editor must run as the same user.",
      };
    case "foreign_broker":
      return {
        code: "FOREIGN_BROKER",
        message: `The Editor of ${project} belongs to another broker${holder(refusal)}, and works only for that one.`,
        next: "Use that broker. If it is gone, stop it and wait a minute; to take the Editor over at once, run `unity-broker editors claim` with its name, where this broker's worker runs, or hand it over in the bridge's window.",
      };
    case "plain":
      return {
        code: "HELLO_REFUSED",
        message: `A plain uLoop bridge answers at ${address}, where the Editor of ${project} wrote that its own bridge listens. Nothing was sent to it.`,
        next: "If that is another project, restart the Editor. To use an Editor without our bridge, name it in UNITY_BROKER_EDITORS.",
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
      message: `A program that is no Unity bridge answers at ${address}, where the Editor of ${project} said that it listens.`,
      next: "End that program or change its port, then restart the Editor.",
    };
  }
  const stuck = troubleOfScripts(signs);
  if (stuck) return stuck;
  const isReloading = signs.phase === "reloading" || signs.phase === "compiling";
  if (signs.pid === undefined) return troubleUnseen(signs, limits);
  if (because === "closed" && forMs >= (isReloading ? limits.announcedReloadMs : limits.reloadMs)) {
    const process = `Unity (process ${signs.pid})`;
    return {
      code: "BRIDGE_NOT_LOADED",
      message: `${process} runs with ${project}, but its bridge has not listened at ${address} for ${seconds} s: scripts do not compile, the Editor is in Safe Mode, or it is still loading.`,
      next: `${LOOK}: mend compile errors in the Console, leave Safe Mode, or let it finish loading; ${RESUMES}.`,
    };
  }
  if (because === "silent" && forMs >= limits.reloadMs) {
    return {
      code: "EDITOR_SILENT",
      message: `Unity's process lives, but has not answered at ${address} for ${seconds} s, not even from its background threads: it hangs as a whole, or is stopped in a debugger.`,
      next: `${LOOK}; continue the debugger if one is attached. End Unity only if it stays so: what ran is then reported as interrupted.`,
    };
  }
  return undefined;
}

/** The Editor was named, and wrote nothing about itself: it may not even run. */
function troubleUnseen(
  { connection, address, project }: EditorSigns,
  limits: TroubleLimits,
): Trouble | undefined {
  if (connection.is !== "lost" || connection.forMs < limits.reloadMs) return undefined;
  const seconds = Math.round(connection.forMs / 1000);
  if (connection.because === "closed") {
    return {
      code: "BRIDGE_NOT_LOADED",
      message: `Nobody has listened at ${address} for ${seconds} s, where the Editor of ${project} was named: Unity does not run, its bridge is stopped, or its scripts do not compile.`,
      next: `Open the project, start its bridge, or mend the name in UNITY_BROKER_EDITORS; ${RESUMES}.`,
    };
  }
  if (connection.because !== "silent") return undefined;
  return {
    code: "EDITOR_SILENT",
    message: `The Editor of ${project} has not answered at ${address} for ${seconds} s: a plain bridge answers nothing while Unity's main thread is busy or a dialog is open.`,
    next: `${LOOK} and answer the dialog, or let it work; ${RESUMES}.`,
  };
}

/** There is a connection: does Unity get on? */
function troubleInside(signs: EditorSigns, limits: TroubleLimits): Trouble | undefined {
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
        message: `${SOMEBODYS} has run for ${minutes} min, longer than such calls usually take, and Unity's main thread has not answered for ${stalled}. It may be working, or a dialog that it opened waits for an answer.`,
        next: `${LOOK} and answer a dialog if one is open. Otherwise let it work: it is not run again.`,
      };
    }
    if (focused !== false) return undefined;
    return { ...unfocused(`${SOMEBODYS} has run for ${minutes} min`), running: running.operation };
  }
  const stuck = troubleOfScripts(signs);
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

const STORE_FULL: Trouble = {
  code: "STORE_FULL",
  message:
    "An operation of this Editor has ended, and the results that are kept leave no room for its own: the Editor keeps it meanwhile.",
  next: "It arrives when there is room: when the retention of others ends, or with a larger UNITY_BROKER_RESULTS_BUDGET_MB or UNITY_BROKER_PRINCIPAL_SHARE. Nothing is executed again.",
};

function troubleOfScripts({ phase, project }: EditorSigns): Trouble | undefined {
  switch (phase) {
    case "safe_mode":
      return {
        code: "SAFE_MODE",
        message: `The Editor of ${project} is in Safe Mode, because its scripts do not compile: no tool can run.`,
        next: `Mend the compile errors that its Console shows and leave Safe Mode; ${RESUMES}.`,
      };
    case "compile_errors":
      return {
        code: "COMPILE_ERRORS",
        message: `The scripts of ${project} do not compile: Unity keeps the old ones, and may refuse tools that need the new ones.`,
        next: "Mend the errors that the Console shows (get-logs reads it), then compile again.",
      };
    default:
      return undefined;
  }
}

function unfocused(what: string): Trouble {
  return {
    code: "UNFOCUSED",
    message: `${what}, and Unity's window is in the background, where the system may hardly let it work.`,
    next: "Click into the Unity window; in Preferences > General, set Interaction Mode to No Throttling.",
  };
}

function holder({ boundTo, since }: { boundTo?: string | undefined; since?: number | undefined }): string {
  if (boundTo === undefined) return "";
  const at = since === undefined ? "" : `, since ${new Date(since).toISOString()}`;
  return ` (store ${boundTo}${at})`;
}
