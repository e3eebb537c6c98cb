/**
 * Everything that can go wrong with a document.
 *
 * refused    it cannot be read like that (a path without a list)
 * missing    nobody has the document any more          load     it could not be fetched
 * malformed  it is not JSON                            syntax   the filter is not jq
 * runtime    jq gave up on it, in jq's own words       timeout  longer than its limit; what ran was ended
 * too_large  the document or the output is above its cap
 * memory     above what jq or the thread may use       busy     too many wait already
 * aborted    the caller left                           closed   the engine was closed
 * crashed    the thread ended for another reason: a defect
 */
export type DocumentErrorKind =
  | "missing"
  | "refused"
  | "load"
  | "malformed"
  | "syntax"
  | "runtime"
  | "timeout"
  | "too_large"
  | "memory"
  | "busy"
  | "aborted"
  | "closed"
  | "crashed";

export class DocumentError extends Error {
  override readonly name = "DocumentError";

  constructor(
    readonly kind: DocumentErrorKind,
    message: string,
  ) {
    super(message);
  }
}
