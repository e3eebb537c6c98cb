/** Why a connection to an Editor ended, and what its callers get. */

/**
 * The closed set of reasons. An over-long frame is not among them: it is skipped and the connection stays.
 * An operation is never judged by any of these; only what the Editor says after the next hello counts.
 */
export type DisconnectReason =
  /** Nobody listens on the port: no Editor, or one that is reloading. */
  | "refused"
  /** No route, no such host, or another failure before the connection stood. */
  | "unreachable"
  | "connect_timeout"
  | "peer_closed"
  | "reset"
  /** No byte for the heartbeat time after hello: half-open, or the Editor's process hangs as a whole. */
  | "heartbeat_lost"
  /** A control request got no answer although its answer needs no main thread. */
  | "peer_dead"
  /** A frame was begun and its rest did not come. */
  | "frame_timeout"
  /** No frame boundary any more, or not our protocol at all (HTTP). */
  | "malformed_frame"
  /** The other end belongs to another user of this machine, so it is not the Editor. */
  | "foreign_peer"
  /** A higher fence is known to the Editor: nothing more is sent below it. */
  | "fenced"
  /** Hello was answered with an error, or by another Editor than the expected one. */
  | "hello_refused"
  /** The worker's own handling of hello failed; hello is said again later. */
  | "hello_failed"
  /** The endpoint changed: the Editor is called at its new address. */
  | "moved"
  /** We closed it. */
  | "shutdown";

/** There is no connection to get an answer from. Says nothing about the fate of what was asked. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
  /** `not_ready`: there was no connection when it was asked (connecting, or hello not handled yet). */
  readonly reason: DisconnectReason | "not_ready";
  /** False only when not a byte of the request was handed to the socket. */
  readonly sent: boolean;

  constructor(reason: DisconnectReason | "not_ready", sent: boolean) {
    super(`no connection to the Editor (${reason})`);
    this.reason = reason;
    this.sent = sent;
  }
}

/** A frame above a cap, of bytes or of JSON values. `outgoing`: refused before sending. `incoming`: the answer came and was skipped. */
export class FrameTooLarge extends Error {
  override readonly name = "FrameTooLarge";
  readonly direction: "outgoing" | "incoming";
  /** Bytes of the frame's body. */
  readonly length: number;
  readonly maxBytes: number;

  constructor(direction: "outgoing" | "incoming", length: number, maxBytes: number, maxValues?: number) {
    super(
      maxValues === undefined
        ? `${direction} frame of ${length} bytes is above the limit of ${maxBytes}`
        : `${direction} frame of ${length} bytes has more than ${maxValues} JSON values`,
    );
    this.direction = direction;
    this.length = length;
    this.maxBytes = maxBytes;
  }
}

/** Reads a socket's error; `connected` distinguishes a failed attempt from a broken connection. */
export function reasonOfSocketError(error: unknown, connected: boolean): DisconnectReason {
  const code = (error as { code?: unknown }).code;
  if (!connected) {
    if (code === "ECONNREFUSED") return "refused";
    return code === "ETIMEDOUT" ? "connect_timeout" : "unreachable";
  }
  // A TCP keepalive that was never answered.
  return code === "ETIMEDOUT" ? "peer_dead" : "reset";
}
