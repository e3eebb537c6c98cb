/** What a link hands on to the one who keeps it. */
import type { HelloResult } from "../../shared/wire/wire.js";
import type { DisconnectReason } from "../transport/disconnect.js";
import type { EditorCalls } from "./editor-calls.js";
import type { EditorEvent } from "./editor-events.js";
import type { EditorNoticeHandlers } from "./editor-notices.js";

export type EditorLinkState = "connecting" | "ready" | "closed";

export interface EditorLinkHandlers extends EditorNoticeHandlers {
  /**
   * Awaited before the link is ready; notifications that come meanwhile are handed on afterwards. `calls` reaches
   * this connection already now. A rejection ends the connection (`hello_failed`) and hello is said again later.
   * Never called again before the former call has settled.
   */
  onHello(hello: HelloResult, calls: EditorCalls): void | Promise<void>;
  /** Exactly once for each `onHello`, after it. Attempts that never came to a hello are only in `lastDisconnect`. */
  onDisconnected(reason: DisconnectReason): void | Promise<void>;
  /** True: the fence was raised above `highestEpoch`, say hello again. False: the lease is lost, the link closes. */
  onFenced(highestEpoch: number): boolean | Promise<boolean>;
  /** Hello was refused: RpcFailure (UNAUTHORIZED, FOREIGN_BROKER, unknown method …), UnreadableAnswer, WrongEditor, UnprovenEditor. */
  onRefused?(error: Error): void | Promise<void>;
  onState?(state: EditorLinkState): void | Promise<void>;
  /** Said on the connection, the push channel or both: once. */
  onEvent?(event: EditorEvent): void | Promise<void>;
}

/** Of a link that has not been started. */
export const NO_HANDLERS: EditorLinkHandlers = {
  onHello: () => undefined,
  onRunning: () => undefined,
  onProgress: () => undefined,
  onFinished: () => undefined,
  onHeartbeat: () => undefined,
  onToolsChanged: () => undefined,
  onDisconnected: () => undefined,
  onFenced: () => false,
};
