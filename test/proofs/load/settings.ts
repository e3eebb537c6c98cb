/** What the processes of a load agree on. */

/** The tool that is called: it notes its text and ends at once. */
export const TOOL = "load-note";

export interface EditorsSettings {
  /** Ledgers and counter files, by number. */
  folder: string;
  editorsFolder: string;
  count: number;
}

export interface SessionsSettings {
  url: string;
  /** Taken in turn: each names another principal. */
  tokens: readonly string[];
  sessions: number;
  /** Begins every text of this process. */
  name: string;
}

/** Calls at fixed times, whether earlier ones were answered or not. */
export interface Offer {
  editors: readonly string[];
  perSecond: number;
  seconds: number;
}

export interface Offered {
  sent: number;
  completed: number;
  /** What was answered otherwise, each in a few words. */
  wrong: string[];
  /** Of each call: when it was due, ms since the beginning, and ms from then to its answer. */
  calls: [dueMs: number, tookMs: number][];
  /** How late the calls were sent, ms: the load is the stated one only while this is small. */
  lateMs: number[];
}
