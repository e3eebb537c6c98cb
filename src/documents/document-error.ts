/**
 * Everything that can go wrong with a document.
 *
 * refused    the request does not fit the document (a path without a list)
 * missing    it no longer exists                       load     it could not be fetched
 * malformed  it is not JSON                            syntax   the filter is not jq
 * runtime    jq failed, with jq's own message          timeout  it took longer than its limit, and was ended
 * too_large  the document or the output exceeds its limit
 * memory     jq or the thread ran out of memory        busy     too many requests are waiting
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
