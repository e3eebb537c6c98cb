/**
 * Checks a call's arguments against its tool's JSON Schema before anything is written. The schema comes from an Editor and
 * is not trusted: unless it is plain, it is compiled and applied in a thread with its own heap, which is ended after a
 * timeout.
 */
import { Worker } from "node:worker_threads";
import { DocumentError } from "../../documents/document-error.js";
import { createThread } from "../../documents/thread.js";
import { createBoundedMemory } from "../../shared/bounded-memory.js";
import { BrokerError } from "../../shared/errors.js";
import type { JsonObjectSchema, Tool } from "../../shared/tools/tool.js";
import { isPlain, isQuick } from "./plain-schema.js";
import { createSchemaCheck, type Fault, type SchemaAnswer } from "./schema-check.js";
import type { SchemaRequest } from "./schema-thread.js";

export interface ToolSchema {
  /**
   * Rejects with INVALID_ARGUMENTS and the path and reason of each fault. A schema that is invalid, too large or too slow
   * checks nothing here: the Editor checks its arguments itself. `args`: as JSON text.
   */
  check(tool: Tool, args: string): Promise<void>;
  /** Compiles the tool's schema ahead of its first check. Of those that need the thread, the first one starts it. */
  prepare(tool: Tool): Promise<void>;
  close(): Promise<void>;
}

export interface ToolSchemaOptions {
  /** Longest time of one check, including the compilation of its schema, once the thread has it. */
  timeoutMs: number;
  /** How long all schemas of a tool check nothing after one took too long, at once or in a few slow checks. */
  restMs: number;
  /** A check that has waited this long for other tools' checks is left out. */
  waitMs: number;
  maxHeapMb: number;
  start(maxHeapMb: number): Worker;
}

/** Most characters of its JSON. */
const MAX_SCHEMA = 512 * 1024;

export const TOOL_SCHEMA_DEFAULTS: ToolSchemaOptions = {
  timeoutMs: 1_000,
  restMs: 60_000,
  waitMs: 3_000,
  maxHeapMb: 128,
  start: (maxOldGenerationSizeMb) =>
    new Worker(PROGRAM, {
      env: {},
      execArgv: [],
      name: "schemas",
      resourceLimits: { maxOldGenerationSizeMb },
    }),
};

/** The built program, even when this file runs from source: see src/documents/thread-start.ts. */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/gateway/tools/schema-thread.js" : "./schema-thread.js",
  import.meta.url,
);

/** A check that takes longer than this share of `timeoutMs` is slow; the slow checks of one tool share `timeoutMs`. */
const SLOW = 0.1;

/** A thread without work for this long ends, ms. */
const IDLE_MS = 600_000;

/** `onUnchecked`: called with the reason when a tool's arguments are not checked, once for each of its schemas. */
export function createToolSchema(
  onUnchecked: (tool: string, reason: string) => void,
  given: Partial<ToolSchemaOptions> = {},
): ToolSchema {
  const options = { ...TOOL_SCHEMA_DEFAULTS, ...given };
  const thread = createThread<SchemaRequest, SchemaAnswer>(() => options.start(options.maxHeapMb), {
    idleMs: IDLE_MS,
  });
  const here = createSchemaCheck();
  const known = new WeakMap<JsonObjectSchema, { text: string; plain: boolean }>();
  const reported = new WeakSet<JsonObjectSchema>();
  /** By tool: monotonic ms until which its schemas check nothing. */
  const restsUntil = createBoundedMemory<number>(1_000);
  /** By tool: ms that its slow checks took since it rested. */
  const slowMs = createBoundedMemory<number>(1_000);
  let turn: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const run = async (tool: string, request: SchemaRequest): Promise<SchemaAnswer> => {
    if (isClosed) return { unusable: "the gateway is closing" };
    if ((restsUntil.get(tool) ?? 0) > performance.now()) return { faults: [] };
    const begun = performance.now();
    // Else the time would be that of the thread's start, which is not the tool's.
    const isTimed = thread.isStarted();
    const rest = (): void => {
      restsUntil.set(tool, performance.now() + options.restMs);
      slowMs.set(tool, 0);
    };
    try {
      const answer = await thread.run(request, options.timeoutMs);
      const tookMs = performance.now() - begun;
      if (!isTimed || tookMs <= options.timeoutMs * SLOW) return answer;
      const allMs = (slowMs.get(tool) ?? 0) + tookMs;
      if (allMs > options.timeoutMs) rest();
      else slowMs.set(tool, allMs);
      return answer;
    } catch (error) {
      rest();
      return { unusable: (error as DocumentError).message };
    }
  };

  const inTurn = (tool: string, request: SchemaRequest): Promise<SchemaAnswer> =>
    new Promise((answer) => {
      let isLate = false;
      const clock = setTimeout(() => {
        isLate = true;
        answer({ unusable: `the checks of other tools took longer than ${options.waitMs} ms` });
      }, options.waitMs);
      turn = turn.then(async () => {
        if (isLate) return;
        clearTimeout(clock);
        answer(await run(tool, request));
      });
    });

  const unchecked = ({ name, inputSchema }: Tool, reason: string): void => {
    if (!reported.has(inputSchema)) onUnchecked(name, reason);
    reported.add(inputSchema);
  };

  const textOf = ({ inputSchema }: Tool): { text: string; plain: boolean } => {
    const before = known.get(inputSchema);
    if (before) return before;
    const text = JSON.stringify(inputSchema);
    const now = { text, plain: isPlain(inputSchema, text) };
    known.set(inputSchema, now);
    return now;
  };

  return {
    async check(tool, args) {
      const { text: schema, plain } = textOf(tool);
      if (schema.length > MAX_SCHEMA)
        return unchecked(tool, `a schema of ${schema.length} characters exceeds the limit of ${MAX_SCHEMA}`);
      const isCheap = plain && isQuick(schema, args);
      const answer = isCheap ? here.answer(schema, args) : await inTurn(tool.name, { schema, args });
      if ("unusable" in answer) return unchecked(tool, answer.unusable);
      if (answer.faults.length > 0) throw refusal(tool, answer.faults);
    },

    async prepare(tool) {
      const { text, plain } = textOf(tool);
      if (text.length > MAX_SCHEMA) return;
      if (plain) here.prepare(text);
      else if (!thread.isStarted()) await inTurn(tool.name, { schema: text, args: "{}" });
    },

    async close() {
      isClosed = true;
      await thread.end(new DocumentError("closed", "the gateway is closing"));
    },
  };
}

function refusal(tool: Tool, faults: readonly Fault[]): BrokerError {
  const said = faults.slice(0, 5).map(({ path, reason }) => `${path} ${reason}`);
  return new BrokerError(
    "INVALID_ARGUMENTS",
    `The arguments of ${tool.name} are wrong: ${said.join("; ")}.`,
    { faults },
  );
}
