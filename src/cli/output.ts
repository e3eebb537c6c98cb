/**
 * Whether everything that a command wrote to its standard output is there. A reader that went away (`| head`) wanted no more: that is
 * no failure. Neither ends the process.
 */
import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";

export interface WatchedOutput {
  /** The first write that failed, but for a reader that went away. */
  failure(): NodeJS.ErrnoException | undefined;
}

/** Never undone: an error without a listener would end the process. */
export function watchOutput({ stdout, stderr }: { stdout: Stream; stderr: Writable }): WatchedOutput {
  let failure: NodeJS.ErrnoException | undefined;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") failure ??= error;
  });
  // There is nowhere left to say it.
  stderr.on("error", () => undefined);
  if (fstatSync(stdout.fd).isFile()) stdout._write = wholeWrite(stdout.fd);
  return { failure: () => failure };
}

type Stream = Writable & { fd: number };

/** Node's own stream takes a write of which the disk took only a part for a whole one. */
function wholeWrite(fd: number): Writable["_write"] {
  return (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
      done();
    } catch (error) {
      done(error as Error);
    }
  };
}
