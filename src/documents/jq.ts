/** Runs one jq filter over one document, inside a document thread. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadJq } from "jq-wasm";
import { contentsAt } from "../shared/results/document-path.js";
import { documentIn } from "../shared/results/json-text.js";
import { DocumentError } from "./document-error.js";
import { createJqHost, OutOfMemory, OutputFull } from "./jq-host.js";
import { type CompiledModule, Module, RuntimeError } from "./webassembly.js";

export interface Filtered {
  /** One output as it is; none or several as an array of all. */
  json: Buffer;
  outputs: number;
}

/** Most UTF-8 bytes of a filter. Arguments are on the module's stack, whose end jq does not check. */
const MAX_FILTER_BYTES = 16_384;

const NEWLINE = 0x0a;
const COMMA = 0x2c;

let compiled: CompiledModule | undefined;

/** Compiled on first use, then shared by all filters of the thread. */
const jqModule = (): CompiledModule => {
  compiled ??= new Module(readFileSync(createRequire(import.meta.url).resolve("jq-wasm/jq.wasm")));
  return compiled;
};

/**
 * Every filter has its own instance, which costs milliseconds: nothing that an earlier one left in memory
 * is visible, a trap leaves nothing behind, and the memory (at most 256 MB, about 12 times the document) is freed.
 * Does not yield while the filter runs; to limit its time, end the thread.
 */
export async function filter(document: Uint8Array, jq: string, maxOutputBytes: number): Promise<Filtered> {
  if (Buffer.byteLength(jq) > MAX_FILTER_BYTES)
    throw new DocumentError("syntax", `The filter is longer than ${MAX_FILTER_BYTES} bytes.`);
  // A NUL would end the C string.
  if (jq.includes("\0")) throw new DocumentError("syntax", "The filter contains a NUL character.");
  const host = createJqHost(jqModule(), document, maxOutputBytes);
  const exitCode = await run(async () => {
    const instance = await loadJq({ instantiateWasm: host.instantiate });
    return instance.raw("", jq, ["-c", "--"]).exitCode;
  }, maxOutputBytes);
  if (exitCode !== 0) throw failure(exitCode, host.messages().trim(), document);
  return collected(host.output());
}

async function run(jq: () => Promise<number>, maxOutputBytes: number): Promise<number> {
  try {
    return await jq();
  } catch (thrown) {
    if (thrown instanceof OutputFull)
      throw new DocumentError("too_large", `The filter's output is larger than ${maxOutputBytes} bytes.`);
    // The heap's end, the stack's end (RangeError) and a trap at either.
    if (thrown instanceof OutOfMemory || thrown instanceof RangeError || thrown instanceof RuntimeError)
      throw new DocumentError(
        "memory",
        "jq ran out of memory: it has 256 MB for the document and the filter's values, and a limited nesting depth. Take a part of the document first.",
      );
    throw thrown;
  }
}

/** jq exits with 3 if it could not compile the program, and with 5 for a runtime error, including an invalid document. */
function failure(exitCode: number, message: string, document: Uint8Array): DocumentError {
  if (exitCode === 3) return new DocumentError("syntax", message);
  if (message.startsWith("jq: parse error")) return new DocumentError("malformed", message);
  const failed = message || `jq ended with exit code ${exitCode}`;
  return new DocumentError(
    "runtime",
    `${failed.replace(/[.]$/, "")}. The document ${contentsAt(document, documentIn(document).start)}.`,
  );
}

/** jq ends every output with a newline, and writes none inside of one. */
function collected(lines: Buffer): Filtered {
  let outputs = 0;
  for (let at = lines.indexOf(NEWLINE); at !== -1; at = lines.indexOf(NEWLINE, at + 1)) outputs += 1;
  if (outputs === 1) return { json: Buffer.from(lines.subarray(0, -1)), outputs };
  const json = Buffer.allocUnsafe(Math.max(2, lines.length + 1));
  json.write("[]");
  json.set(lines, 1);
  for (let at = json.indexOf(NEWLINE); at !== -1; at = json.indexOf(NEWLINE, at + 1)) json[at] = COMMA;
  json[json.length - 1] = 0x5d;
  return { json, outputs };
}
