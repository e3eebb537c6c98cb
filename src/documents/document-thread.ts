/** The program of a document thread: everything that takes long over a large document happens here. */
import { parentPort, workerData } from "node:worker_threads";
import { BrokerError } from "../shared/errors.js";
import { createDocumentCache } from "./document-cache.js";
import { DocumentError } from "./document-error.js";
import { READY, type ThreadAnswer, type ThreadLimits, type ThreadRequest } from "./messages.js";
import { perform } from "./operations.js";

const port = parentPort;
if (port === null) throw new Error("This file is the program of a worker thread.");
const cache = createDocumentCache(workerData as ThreadLimits);

async function answer({ key, op, chunks }: ThreadRequest): Promise<ThreadAnswer> {
  try {
    const result = await perform(cache.open(key, chunks), op);
    return { held: cache.held(), result };
  } catch (thrown) {
    const kind =
      thrown instanceof DocumentError ? thrown.kind : thrown instanceof BrokerError ? "refused" : "crashed";
    return { held: cache.held(), error: { kind, message: String((thrown as Error).message) } };
  }
}

/** Filtered JSON may be large: its bytes are moved, not copied. */
const moved = (said: ThreadAnswer): ArrayBuffer[] => {
  const json = "result" in said ? (said.result as { json?: unknown }).json : undefined;
  const whole = json instanceof Uint8Array && json.byteLength === json.buffer.byteLength;
  return whole ? [json.buffer as ArrayBuffer] : [];
};

port.on("message", async (request: ThreadRequest) => {
  const said = await answer(request);
  port.postMessage(said, moved(said));
});
port.postMessage(READY);
