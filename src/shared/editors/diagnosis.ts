/** What keeps an Editor from working: the signs of it, the diagnoses, and who sees what of one (diagnose.ts decides). */

export type DiagnosisCode =
  | "COMPILE_ERRORS"
  | "SAFE_MODE"
  | "BRIDGE_NOT_LOADED"
  | "EDITOR_SILENT"
  | "WRONG_PROJECT"
  | "PORT_TAKEN"
  | "PORT_NOT_PROVEN"
  | "FOREIGN_BROKER"
  | "HELLO_REFUSED"
  | "LEDGER_UNAVAILABLE"
  | "MODAL_DIALOG"
  | "MAIN_THREAD_BUSY"
  | "UNITY_AT_WORK"
  | "UNFOCUSED"
  | "STORE_FULL"
  /** src/shared/editors/refused-endpoint.ts */
  | "ENDPOINT_REFUSED"
  | "TOOLS_LEFT_OUT";

export interface Diagnosis {
  code: DiagnosisCode;
  /** What is wrong, in whole sentences. */
  message: string;
  /** What to do about it. */
  next: string;
  /** The operation involved. Other principals are shown neither its tool nor its owner. */
  running?: { tool: string; principal: string } | undefined;
}

/** Hello was answered by a refusal. */
export type HelloRefusal =
  | { why: "wrong_editor"; found: string }
  | { why: "token" }
  | ({ why: "foreign_broker" } & EditorHolder)
  /** It does not know hello, and was not configured as an Editor without it. */
  | { why: "plain" }
  /** Its bridge did not say which project it serves. */
  | { why: "unverified"; message: string }
  /** Its disk does not take its ledger; the message says why, and what to do. */
  | { why: "ledger"; message: string }
  | { why: "other"; message: string };

/** The broker that an Editor belongs to, as far as it says. */
export interface EditorHolder {
  /** The id of its store, and since when, ms since the epoch. */
  boundTo?: string | undefined;
  since?: number | undefined;
  connected?: boolean | undefined;
  /** How people find it: its process and machine. */
  brokerId?: string | undefined;
  version?: string | undefined;
}

/** Times in ms. */
export interface EditorSigns {
  project: string;
  /** Of the Editor's live process; undefined if it is not known to be alive. */
  pid: number | undefined;
  /** host:port */
  address: string;
  /** The phase it reported last. */
  phase: string | undefined;
  /** An outcome of this Editor waits for room in the store. */
  isStoreFull?: boolean;
  /** Its tool list was above a limit (call-rules.ts). */
  toolsLeftOut?: { count: number; reasons: readonly string[] } | undefined;
  connection:
    | {
        is: "ready";
        /** Time since its main thread last answered. */
        stallMs: number;
        /** Whether its window has the focus; undefined if the bridge does not report it. */
        focused: boolean | undefined;
        /** The running operation, its time so far, and the usual time of such calls. */
        running: { operation: Diagnosis["running"]; forMs: number; usualMs: number } | undefined;
      }
    | {
        is: "lost";
        forMs: number;
        /** `closed`: nothing listens. `silent`: no answer. `not_ours`: an answer in another protocol. */
        because: "closed" | "silent" | "not_ours" | "other";
        refusal?: HelloRefusal | undefined;
      };
}

/** How long a condition may last before it is diagnosed, ms. */
export interface DiagnosisLimits {
  /** A domain reload closes the port for seconds, in large projects for longer … */
  reloadMs: number;
  /** … and an announced one may take longer. */
  announcedReloadMs: number;
  /** Unity's main thread answers many times a second unless something blocks it. */
  stallMs: number;
  /** Unity's own work (imports, compilation) may block the main thread for this long before it is diagnosed. */
  ownWorkMs: number;
}

export const DIAGNOSIS_LIMITS: DiagnosisLimits = {
  reloadMs: 15_000,
  announcedReloadMs: 120_000,
  stallMs: 10_000,
  ownWorkMs: 300_000,
};

/** The diagnosis as this principal may see it, without the store's own fields. */
export function publicDiagnosis({ code, message, next, running }: Diagnosis, principal: string): Diagnosis {
  const isOwn = running?.principal === principal;
  return { code, message: isOwn ? message.replace(SOMEBODYS, running.tool) : message, next };
}

/** Stands in a message for the running operation, which only its own principal may know. */
export const SOMEBODYS = "An operation";

/** Does it hold up calls? Some diagnoses are only for a person's information. */
export function holdsUpCalls({ code }: Diagnosis): boolean {
  return code !== "TOOLS_LEFT_OUT";
}
