/** The states of an operation, for people: a word, a shape and a colour each, so that none is told by its colour alone. */

export type Tone = "quiet" | "wait" | "go" | "good" | "bad" | "doubt";

export interface Look {
  word: string;
  tone: Tone;
  /** An SVG path in a box of 16. */
  shape: string;
}

export const LOOKS: Readonly<Record<string, Look>> = {
  queued: {
    word: "Waiting",
    tone: "wait",
    shape: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 5v3.2l2.2 1.3",
  },
  dispatched: { word: "Sent", tone: "go", shape: "M2.5 8h10M9 4.2L12.8 8L9 11.8" },
  running: { word: "Running", tone: "go", shape: "M5 3.2L12.6 8L5 12.8Z" },
  completed: { word: "Completed", tone: "good", shape: "M3 8.6L6.4 12L13 4.6" },
  failed: { word: "Failed", tone: "bad", shape: "M4 4L12 12M12 4L4 12" },
  cancelled: {
    word: "Cancelled",
    tone: "quiet",
    shape: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M4.2 4.2L11.8 11.8",
  },
  interrupted: {
    word: "Outcome unknown",
    tone: "doubt",
    shape: "M5.4 6a2.7 2.7 0 1 1 4 2.5C8.4 9 8 9.4 8 10.4M8 12.9v.2",
  },
  expired: {
    word: "Expired",
    tone: "quiet",
    shape: "M4 2.8h8M4 13.2h8M5 2.8C5 7 11 9 11 13.2M11 2.8C11 7 5 9 5 13.2",
  },
};

const UNKNOWN: Look = { word: "Unknown", tone: "doubt", shape: "M8 7v2" };

export function lookOf(state: string): Look {
  return LOOKS[state] ?? { ...UNKNOWN, word: state };
}

export function hasEnded(state: string): boolean {
  return !["queued", "dispatched", "running"].includes(state);
}
