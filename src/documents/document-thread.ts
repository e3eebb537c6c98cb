/** The program of a document thread: all long work on a large document happens here. */
import { parentPort, workerData } from "node:worker_threads";
import { BrokerError } from "../shared/errors.js";
import { MalformedJson } from "../shared/results/json-text.js";
import { createDocumentCache } from "./document-cache.js";
import { DocumentError, type DocumentErrorKind } from "./document-error.js";
import { perform } from "./document-operations.js";
import { READY, type ThreadAnswer, type ThreadLimits, type ThreadRequest } from "./messages.js";

const port = parentPort;
if (port === null) throw new Error("This file is the program of a worker thread.");
const cache = createDocumentCache(workerData as ThreadLimits);

async function answer({ key, op, chunks }: ThreadRequest): Promise<ThreadAnswer> {
  try {
    const result = await perform(await cache.open(key, chunks), op);
    return { held: cache.held(), result };
  } catch (thrown) {
    return {
      held: cache.held(),
      error: { kind: kindOf(thrown), message: String((thrown as Error).message) },
    };
  }
}

function kindOf(thrown: unknown): DocumentErrorKind {
  if (thrown instanceof DocumentError) return thrown.kind;
  if (thrown instanceof MalformedJson) return "malformed";
  return thrown instanceof BrokerError ? "refused" : "crashed";
}

/** A part of a document may be large: its bytes are moved, not copied. */
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
