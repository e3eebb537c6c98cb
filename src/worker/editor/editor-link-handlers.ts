/** What a link reports to its owner. */
import type { HelloResult } from "../../shared/wire/wire.js";
import type { DisconnectReason } from "../transport/disconnect.js";
import type { EditorCalls, EditorNoticeHandlers } from "./editor-calls.js";
import type { EditorEvent } from "./editor-events.js";

export type EditorLinkState = "connecting" | "ready" | "closed";

export interface EditorLinkHandlers extends EditorNoticeHandlers {
  /**
   * Awaited before the link is ready; notifications that arrive meanwhile are handed on afterwards. `calls` already
   * uses this connection. A rejection ends the connection (`hello_failed`), and hello is sent again later.
   * Never called again before the previous call has settled.
   */
  onHello(hello: HelloResult, calls: EditorCalls): void | Promise<void>;
  /** Called exactly once after each `onHello`. Attempts without a hello appear only in `lastDisconnect`. */
  onDisconnected(reason: DisconnectReason): void | Promise<void>;
  /** True: the fence was raised above `highestEpoch`, so send hello again. False: the lease is lost, so the link closes. */
  onFenced(highestEpoch: number): boolean | Promise<boolean>;
  /** Hello was refused: RpcFailure (UNAUTHORIZED, FOREIGN_BROKER, unknown method …), UnreadableAnswer, WrongEditor, UnprovenEditor. */
  onRefused?(error: Error): void | Promise<void>;
  onState?(state: EditorLinkState): void | Promise<void>;
  /** Called once, whether it came on the connection, the push channel or both. */
  onEvent?(event: EditorEvent): void | Promise<void>;
}

/** The events of a link that has not been started. */
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
