/** A client that only asks what this server speaks: answered before anything is started to serve it. */
import type { Readable, Writable } from "node:stream";
import { discoverAnswer } from "../../gateway/mcp/revision-2026/discovery.js";

/** No probe is longer. */
const MOST_BYTES = 64 * 1024;

/**
 * Answers probes until something comes that needs a server: then resolves to true, and the input has what was read of it
 * again. False if the input ended before.
 */
export function needsServer(
  { stdin, stdout }: { stdin: Readable; stdout: Writable },
  version: string,
): Promise<boolean> {
  return new Promise((resolve) => {
    let rest = Buffer.alloc(0);
    const over = (needed: boolean): void => {
      stdin.off("data", read).off("end", ended).off("close", ended).off("error", ended);
      stdin.pause();
      if (needed) stdin.unshift(rest);
      resolve(needed);
    };
    const ended = (): void => over(false);
    const read = (chunk: Buffer): void => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
        const answer = discoverAnswer(rest.subarray(0, end).toString("utf8"), version);
        if (!answer) {
          over(true);
          return;
        }
        stdout.write(`${JSON.stringify(answer)}\n`);
        rest = rest.subarray(end + 1);
      }
      if (rest.length > MOST_BYTES) over(true);
    };
    stdin.on("data", read).once("end", ended).once("close", ended).once("error", ended);
  });
}
