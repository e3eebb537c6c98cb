/** A request's failure as JSON-RPC tells it; the servers of every protocol revision send its code, message and data. */
export class ProtocolError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = "ProtocolError";
  }
}

/** What the SDKs call a request that timed out: its client may ask again. */
export const REQUEST_TIMED_OUT = -32001;
