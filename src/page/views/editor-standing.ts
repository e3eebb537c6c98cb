/** Where an Editor stands, in one word. Pure. */
import type { Editor } from "../model.js";

export type EditorStanding = "trouble" | "working" | "paused" | "idle" | "away";

/** In the order in which they are shown. */
export const STANDINGS: readonly { is: EditorStanding; word: string; shape: string }[] = [
  { is: "trouble", word: "need somebody", shape: "M8 2.5L14.5 13.5H1.5Z M8 6.5v3.2M8 11.6v.2" },
  { is: "working", word: "working", shape: "M5 3.2L12.6 8L5 12.8Z" },
  { is: "paused", word: "paused", shape: "M5.5 3.5v9M10.5 3.5v9" },
  { is: "idle", word: "idle", shape: "M8 4.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7" },
  { is: "away", word: "away", shape: "M3 8h10" },
];

/** A main thread that has not answered for this long is shown, ms. */
export const STALL_MS = 2_000;

/** What is only said for information. */
const HARMLESS = new Set(["TOOLS_LEFT_OUT", "UNFOCUSED", "UNITY_AT_WORK"]);

export function standingOf({ connected, diagnosis, paused, running }: Editor): EditorStanding {
  if (diagnosis && !HARMLESS.has(diagnosis.code) && connected) return "trouble";
  if (!connected) return diagnosis ? "trouble" : "away";
  if (running) return "working";
  return paused ? "paused" : "idle";
}
