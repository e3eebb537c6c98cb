/**
 * The lines between a client's pipe (`unity-broker mcp`) and the broker's local socket. A line is a JSON header, and for
 * a message of MCP a tab and its JSON text as the client wrote it. Loads nothing: every pipe of a client waits for it.
 */

/** Raised when one end could misunderstand the other: then the broker serves no session. `control` stays the same. */
export const PIPE_PROTOCOL = 2;

/** Opens a session, or resumes it with a broker that does not know it yet. */
export interface PipeHello {
  kind: "hello";
  protocol: number;
  version: string;
  /** A random UUID that only this pipe knows. */
  session: string;
  pid: number;
  /** The client's working folder. */
  folder: string;
  /** The session had another broker before. */
  isResumed: boolean;
  /** What `select_editor` chose. */
  selected?: string | undefined;
}

/** What a process asks that is no client: `drain` and `stop` end the broker. */
export interface PipeControl {
  kind: "control";
  protocol: number;
  version: string;
  /** `status`: only tell. `stop`: end, and tell the sessions. `drain`: hand everything to the broker that follows. */
  ask: "status" | "stop" | "drain";
}

export type ToBroker =
  | PipeHello
  | PipeControl
  /**
   * The text is one message of the client: its nth. `waitedMs`: how long it waited for this broker; `isResent`: another broker may
   * have received it before.
   */
  | { kind: "message"; n: number; waitedMs?: number | undefined; isResent?: boolean | undefined }
  /** The broker's message `n` was written to the client. */
  | { kind: "written"; n: number }
  /** The client sends nothing more. */
  | { kind: "end" }
  /** The pipe was asked to end: open waits are answered as if their time was over. */
  | { kind: "close" }
  /** Asks for a sign of life. */
  | { kind: "ping" };

export interface BrokerStatus {
  kind: "status";
  protocol: number;
  version: string;
  pid: number;
  /** Started by `up` in a terminal; else in the background. */
  isForeground: boolean;
  /** ms since the epoch. */
  startedAt: number;
  sessions: { pid: number; folder: string }[];
  /** It does what it was asked. It does not hand over while a bridge without a ledger runs something, which would be lost. */
  complies: boolean;
}

export type ToPipe =
  | BrokerStatus
  | { kind: "welcome"; protocol: number; version: string; pid: number }
  /** The store is open. */
  | { kind: "ready"; storeId: string }
  /** The text is one message for the client; `answers`: the number of the client's request that it ends. */
  | { kind: "message"; n: number; answers?: number | undefined }
  /** The client's request with this number gets no answer. */
  | { kind: "dropped"; answers: number }
  | { kind: "selected"; editor?: string | undefined }
  | { kind: "pong" }
  /** The broker cannot serve: what happened, and what to do. `isUsage`: its configuration is wrong. */
  | { kind: "failed"; message: string; isUsage: boolean }
  /** The broker has said everything; the next message of the client may start another one. */
  | { kind: "ended" };

export interface Frame<Header> {
  header: Header;
  /** Of a message; else empty. */
  text: string;
}

export function frameLine(header: ToBroker | ToPipe, text?: string): string {
  return text === undefined ? `${JSON.stringify(header)}\n` : `${JSON.stringify(header)}\t${text}\n`;
}

/** Characters: that of `status` has a folder for each session. */
const LONGEST_HEADER = 256 * 1024;

/** Undefined if the line is no frame. */
export function readFrame<Header extends ToBroker | ToPipe>(line: string): Frame<Header> | undefined {
  // JSON escapes tabs: the first one ends the header.
  const tab = line.indexOf("\t");
  const head = tab < 0 ? line : line.slice(0, tab);
  if (head.length > LONGEST_HEADER) return undefined;
  try {
    const header: unknown = JSON.parse(head);
    if (typeof header !== "object" || header === null || !("kind" in header)) return undefined;
    return { header: header as Header, text: tab < 0 ? "" : line.slice(tab + 1) };
  } catch {
    return undefined;
  }
}
