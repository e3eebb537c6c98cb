/** The program of the thread in which Editors' schemas are compiled and applied (tool-schema.ts). */
import { parentPort } from "node:worker_threads";
import { READY } from "../../documents/messages.js";
import { createSchemaCheck } from "./schema-check.js";

export interface SchemaRequest {
  /** JSON text. */
  schema: string;
  /** JSON text. */
  args: string;
}

const port = parentPort;
if (port === null) throw new Error("This file is the program of a worker thread.");
const check = createSchemaCheck();

port.on("message", ({ schema, args }: SchemaRequest) => port.postMessage(check.answer(schema, args)));
port.postMessage(READY);
