/**
 * The environment of one jq instance: it reads one document, writes one bounded output, and sees nothing else.
 *
 * jq-wasm lets its caller instantiate the module, and with it replace what the module imports. Four things are
 * replaced: reading and writing (the package moves every byte by a call of its own), the environment (the package
 * invents one) and abort (the package prints). What remains is the package's file system in memory: it is empty.
 * The names are those of Emscripten's functions, since the imports' own are minified; a version in which one is
 * missing does not start.
 */
import { type CompiledModule, type Imports, Instance, Memory } from "./webassembly.js";

export class OutputFull extends Error {}
export class OutOfMemory extends Error {}

export interface JqHost {
  /** jq-wasm's `instantiateWasm`. */
  instantiate(imports: Imports, done: (instance: Instance, module: CompiledModule) => void): void;
  /** The output so far. */
  output(): Buffer;
  messages(): string;
}

const STDOUT = 1;
const STDERR = 2;
/** Most bytes of messages: `debug` may write without end. The excess is dropped. */
const MESSAGES = 16_384;
const FIRST_OUTPUT = 65_536;

const PAGE = 65_536;
/** Most memory of the module, by its own declaration. */
const MAX_MEMORY = 4_096 * PAGE;
/** Memory that jq takes to hold a document, as a multiple of its length. */
const PARSED = 12;

/**
 * Allocates at once what jq would request in about twenty steps: the engine answers each with a collection, whose helpers take
 * the cores that the event loop's thread needs. Untouched pages cost nothing.
 */
function grow(memory: Memory, documentBytes: number): void {
  const wanted = Math.min(MAX_MEMORY, memory.buffer.byteLength + PARSED * documentBytes);
  memory.grow(Math.floor((wanted - memory.buffer.byteLength) / PAGE));
}

export function createJqHost(module: CompiledModule, input: Uint8Array, maxOutputBytes: number): JqHost {
  let memory: Memory | undefined;
  let consumed = 0;
  let written = Buffer.allocUnsafe(FIRST_OUTPUT);
  let length = 0;
  let messages = "";

  /** An iovec is an address and a length. Calls `each` with every one, and writes the sum where C expects it. */
  const vectors = (at: number, count: number, sum: number, each: (bytes: Uint8Array) => number): number => {
    if (memory === undefined) throw new Error("jq used its imports before it was started.");
    const view = new DataView(memory.buffer);
    let total = 0;
    for (let vector = at; vector < at + 8 * count; vector += 8)
      total += each(
        new Uint8Array(memory.buffer, view.getUint32(vector, true), view.getUint32(vector + 4, true)),
      );
    view.setUint32(sum, total, true);
    return 0;
  };

  const read = (bytes: Uint8Array): number => {
    const part = input.subarray(consumed, consumed + bytes.length);
    bytes.set(part);
    consumed += part.length;
    return part.length;
  };

  const write = (bytes: Uint8Array): number => {
    if (length + bytes.length > maxOutputBytes) throw new OutputFull();
    if (length + bytes.length > written.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * written.length, length + bytes.length));
      larger.set(written.subarray(0, length));
      written = larger;
    }
    written.set(bytes, length);
    length += bytes.length;
    return bytes.length;
  };

  const say = (bytes: Uint8Array): number => {
    if (messages.length < MESSAGES) messages += Buffer.from(bytes).toString();
    return bytes.length;
  };

  const abort = (): never => {
    throw new OutOfMemory();
  };

  const replacements: Imports[string] = {
    _fd_read: (_file, at = 0, count = 0, sum = 0) => vectors(at, count, sum, read),
    _fd_write: (file, at = 0, count = 0, sum = 0) => {
      if (file !== STDOUT && file !== STDERR) return 8; // EBADF
      return vectors(at, count, sum, file === STDOUT ? write : say);
    },
    _environ_sizes_get: (count = 0, size = 0) => {
      if (memory === undefined) return 0;
      const view = new DataView(memory.buffer);
      view.setUint32(count, 0, true);
      view.setUint32(size, 0, true);
      return 0;
    },
    _environ_get: () => 0,
    __abort_js: abort,
  };

  return {
    instantiate(imports, done) {
      const names = Object.values(imports)[0] ?? {};
      for (const [name, replacement] of Object.entries(replacements)) {
        const minified = Object.keys(names).find((key) => names[key]?.name === name);
        if (minified === undefined) throw new Error(`This jq-wasm has no ${name}.`);
        names[minified] = replacement;
      }
      // A separate thread may instantiate synchronously.
      const instance = new Instance(module, imports);
      memory = Object.values(instance.exports).find((value) => value instanceof Memory);
      if (memory !== undefined) grow(memory, input.length);
      done(instance, module);
    },
    output: () => written.subarray(0, length),
    messages: () => messages,
  };
}
