/** Faults between an answer and the peer; one state for all connections of an Editor. */
export interface WireFaults {
  /** Delay of every answer (not of notifications), ms. */
  answerDelayMs: number;
  /** Writes at most this many bytes at a time; undefined writes whole frames. */
  pieceBytes: number | undefined;
  /** Methods whose next request is processed before the connection is cut without an answer. */
  readonly cutAfter: string[];
  /** Methods whose next request is dropped unread before the connection is cut. */
  readonly cutBefore: string[];
  /** Holds back every byte until `speak`. */
  silence(): void;
  speak(): void;
  isSilent(): boolean;
  /** Resolves once bytes may be sent. */
  spoken(): Promise<void>;
}

export function createWireFaults(): WireFaults {
  let silent: { promise: Promise<void>; end(): void } | undefined;
  return {
    answerDelayMs: 0,
    pieceBytes: undefined,
    cutAfter: [],
    cutBefore: [],
    silence() {
      if (silent) return;
      let end = (): void => {};
      const promise = new Promise<void>((resolve) => {
        end = resolve;
      });
      silent = { promise, end };
    },
    speak() {
      silent?.end();
      silent = undefined;
    },
    isSilent: () => silent !== undefined,
    spoken: () => silent?.promise ?? Promise.resolve(),
  };
}

/** Removes one occurrence of the method from the list; true if there was one. */
export function takeOnce(methods: string[], method: string): boolean {
  const index = methods.indexOf(method);
  if (index < 0) return false;
  methods.splice(index, 1);
  return true;
}
