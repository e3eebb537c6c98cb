/**
 * Setup of every test file: what client libraries read of a gateway is measured on its way, whatever the test is about.
 * The harness' own clients (process-clients.ts, mcp.ts) measure for themselves.
 */
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { checkMessageSize } from "./message-size.js";

/** Measures what is between two ends of a message; the last may be missing. */
function measured(end: string): (chunk: Uint8Array | string) => void {
  const mark = Buffer.from(end);
  let open = 0;
  let tail = Buffer.alloc(0);
  return (chunk) => {
    const bytes = Buffer.concat([tail, Buffer.from(chunk)]);
    let from = 0;
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, from)) {
      checkMessageSize(open + at - from);
      open = 0;
      from = at + mark.length;
    }
    // An end may be cut in two.
    const kept = Math.min(mark.length - 1, bytes.length - from);
    open += bytes.length - from - kept;
    tail = bytes.subarray(bytes.length - kept);
    checkMessageSize(open);
  };
}

const END = { "text/event-stream": "\n\n", "application/json": "\n" } as const;

/** A test process plays several files, and this setup with each: the first one stands. */
const WATCHED = Symbol.for("ujb.watched");
const isWatched = WATCHED in globalThis;
Object.assign(globalThis, { [WATCHED]: true });

/** Over HTTP, of all libraries that use the platform's fetch. */
const bare = globalThis.fetch;
const measuredFetch: typeof fetch = async (input, init) => {
  const response = await bare(input, init);
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
  if (init?.method !== "POST" || response.body === null || !(type in END)) return response;
  const measure = measured(END[type as keyof typeof END]);
  const watched = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, out) {
        measure(chunk);
        out.enqueue(chunk);
      },
    }),
  );
  return new Response(watched, response);
};

if (!isWatched) {
  globalThis.fetch = measuredFetch;
  // Over the standard streams of a process that a library starts.
  subscribe("child_process", (event) => {
    const { process: child } = event as { process: ChildProcess };
    // Its streams are there, and read, when the call that starts it has returned.
    process.nextTick(() => {
      if (child.spawnargs?.includes("mcp")) child.stdout?.on("data", measured("\n"));
    });
  });
}
