/** Which errors are the Editor's own answer. */

import { type Refusal, UNREADABLE } from "../../shared/operation/recover.js";
import { RpcFailure } from "../../shared/wire/rpc.js";
import { EDITOR_CODES } from "../../shared/wire/wire.js";
import { UnverifiedEditor } from "../bridges/bridge.js";
import { FrameTooLarge } from "../transport/disconnect.js";
import { UnreadableAnswer } from "./editor-calls.js";
import { WrongEditor } from "./handshake.js";
import { UnprovenEditor } from "./proving.js";

/** Errors that answer the request, as opposed to those after which it is sent again. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof FrameTooLarge && error.direction === "outgoing") {
    return { code: EDITOR_CODES.FRAME_TOO_LARGE, message: error.message };
  }
  if (error instanceof UnreadableAnswer || error instanceof FrameTooLarge) {
    return { code: UNREADABLE, message: error.message };
  }
  if (!(error instanceof RpcFailure)) return undefined;
  const passing: number[] = [
    EDITOR_CODES.FENCED,
    EDITOR_CODES.UNAUTHORIZED,
    EDITOR_CODES.EDITOR_SHUTTING_DOWN,
    EDITOR_CODES.FOREIGN_BROKER,
  ];
  return passing.includes(error.code) ? undefined : { code: error.code, message: error.message };
}

/** Did the Editor itself refuse hello (as opposed to a lost connection or a failure on our side)? */
export function isRefusedHello(error: unknown): boolean {
  return [RpcFailure, UnreadableAnswer, WrongEditor, UnprovenEditor, UnverifiedEditor].some(
    (each) => error instanceof each,
  );
}

/** Hello was refused for what ends without a person at the broker: the Editor is quitting, or cannot write its ledger. */
export function passesByItself(error: unknown): boolean {
  return isLeaving(error) || (error instanceof RpcFailure && error.code === EDITOR_CODES.LEDGER_UNAVAILABLE);
}

/** The Editor is quitting: it accepts nothing more, and keeps what it has. */
export function isLeaving(error: unknown): boolean {
  return error instanceof RpcFailure && error.code === EDITOR_CODES.EDITOR_SHUTTING_DOWN;
}
