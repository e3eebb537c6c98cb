/** Why a connection to an Editor ended, and the errors for its callers. */

/**
 * The closed set of reasons. An over-long frame is not one of them: it is skipped, and the connection stays.
 * No reason says anything about an operation; only the Editor's answers after the next hello do.
 */
export type DisconnectReason =
  /** Nothing listens on the port: no Editor, or one that is reloading. */
  | "refused"
  /** No route, no such host, or another failure before the connection was established. */
  | "unreachable"
  | "connect_timeout"
  | "peer_closed"
  | "reset"
  /** No byte for the heartbeat timeout after hello: half-open, or the Editor's whole process hangs. */
  | "heartbeat_lost"
  /** A control request got no answer although answering needs no main thread. */
  | "peer_dead"
  /** A frame began, and the rest of it did not arrive. */
  | "frame_timeout"
  /** No frame boundary any more, or not our protocol at all (HTTP). */
  | "malformed_frame"
  /** The other end belongs to another user of this machine, so it is not the Editor. */
  | "foreign_peer"
  /** The Editor knows a higher fence: nothing more is sent below it. */
  | "fenced"
  /** Hello was answered with an error, or by another Editor. */
  | "hello_refused"
  /** The worker failed to handle hello; it is sent again later. */
  | "hello_failed"
  /** The endpoint changed: the worker connects to the new address. */
  | "moved"
  /** This side closed it. */
  | "shutdown";

/** There is no connection that could deliver an answer. Says nothing about what became of the request. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
  /** `not_ready`: there was no connection at the time of the request (connecting, or hello not handled yet). */
  readonly reason: DisconnectReason | "not_ready";
  /** False only if no byte of the request was handed to the socket. */
  readonly sent: boolean;

  constructor(reason: DisconnectReason | "not_ready", sent: boolean) {
    super(`no connection to the Editor (${reason})`);
    this.reason = reason;
    this.sent = sent;
  }
}

/** A frame above the limit of bytes or of JSON values. `outgoing`: refused before sending. `incoming`: the answer was skipped. */
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

/** The reason for a socket's error; `connected` distinguishes a broken connection from a failed attempt. */
export function reasonOfSocketError(error: unknown, connected: boolean): DisconnectReason {
  const code = (error as { code?: unknown }).code;
  if (!connected) {
    if (code === "ECONNREFUSED") return "refused";
    return code === "ETIMEDOUT" ? "connect_timeout" : "unreachable";
  }
  // A TCP keepalive that was never answered.
  return code === "ETIMEDOUT" ? "peer_dead" : "reset";
}
