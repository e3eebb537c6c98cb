/** An Editor that tells all of the noise at once, as a process of its own; it ends with its input. */
import { startHostileEditor, type Wire } from "../harness/editor/hostile-editor.js";
import { NOISE } from "./noise.js";

/** Those that end no connection. */
const SAID = [
  "progress without end",
  "heartbeats without end",
  "answers to nothing",
  "shutdowns without end",
];

const liar = await startHostileEditor({
  onReady(wire: Wire) {
    for (const name of SAID) NOISE[name]?.onReady?.(wire);
  },
});
console.log(JSON.stringify(liar.endpoint()));
process.stdin.resume().once("end", () => process.exit());
