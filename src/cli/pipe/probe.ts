/**
 * A client that only asks what this server speaks, in a process that it ends at once: it is answered before anything is
 * started to serve it.
 */
import { Readable, type Writable } from "node:stream";
import { discoverAnswer } from "../../gateway/mcp/revision-2026/discovery.js";

/** A client that says nothing for so long after the start is none that only asks, ms. */
export const SILENT_MS = 1_000;

/** No probe is longer. */
const MOST_BYTES = 64 * 1024;

/**
 * Answers probes. Resolves with the input once there is anything else to do: what was read of it comes again. Undefined if the
 * input ended after a probe.
 */
export function needsServer(
  { stdin, stdout }: { stdin: Readable; stdout: Writable },
  version: string,
): Promise<Readable | undefined> {
  return new Promise((resolve) => {
    let rest = Buffer.alloc(0);
    let isProbed = false;
    const over = (input: Readable | undefined): void => {
      clearTimeout(timer);
      stdin.off("data", read).off("end", ended).off("close", ended).off("error", ended);
      if (input === stdin) {
        stdin.pause();
        if (rest.length > 0) stdin.unshift(rest);
      }
      resolve(input);
    };
    const timer = setTimeout(() => {
      if (!isProbed) over(stdin);
    }, SILENT_MS);
    // Its end has been read: somebody else would wait for it for ever.
    const ended = (): void => over(isProbed ? undefined : Readable.from([rest]));
    const read = (chunk: Buffer): void => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
        const answer = discoverAnswer(rest.subarray(0, end).toString("utf8"), version);
        if (!answer) {
          over(stdin);
          return;
        }
        isProbed = true;
        stdout.write(`${JSON.stringify(answer)}\n`);
        rest = rest.subarray(end + 1);
      }
      if (rest.length > MOST_BYTES) over(stdin);
    };
    stdin.on("data", read).once("end", ended).once("close", ended).once("error", ended);
  });
}
