/** A call that needs an answer of its user first, in the revisions that ask by refusing and being called again. */
export class InputRequired extends Error {
  constructor(readonly result: { inputRequests: Record<string, unknown>; requestState: string }) {
    super("The call needs its user's answer first.");
    this.name = "InputRequired";
  }
}
