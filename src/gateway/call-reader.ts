/** Reads one tool call: everything that can be wrong with it is found here, before a record exists. */

import { BrokerError } from "../shared/errors.js";
import { findUnhashable, fingerprintOf, hashOf, type JsonObject } from "../shared/idempotency.js";
import type { Band } from "../shared/operation.js";
import type { CallParameters } from "../shared/parameters.js";
import { takeParameters } from "../shared/parameters.js";
import type { Requester } from "../shared/replay.js";
import { type Around, resolveTarget, type Target, type TargetProblem } from "../shared/target.js";
import type { Tool } from "../shared/tool.js";
import { waitTime } from "../shared/wait-time.js";
import type { Catalog } from "./catalog.js";
import type { ToolSchema } from "./tool-schema.js";

export interface ToolCall extends Requester {
  principal: string;
  tool: string;
  arguments: JsonObject;
  /** MCP's `_meta`: the broker's parameters are always accepted there. */
  meta?: JsonObject | undefined;
  /** How urgent its caller's work is; interactive if it does not say. */
  band?: Band | undefined;
}

export interface ReadCall {
  principal: string;
  band: Band;
  requester: Requester;
  tool: Tool;
  target: Target;
  around: Around;
  /** The known Editors, among which the target was found. */
  editorIds: string[];
  /** The tool's own arguments as JSON text. */
  arguments: string;
  parameters: CallParameters;
  hash: string;
  fingerprint: string;
}

/** The Editor reads frames up to 1 MiB; the rest of a submit needs a little of it. */
const MAX_ARGUMENT_BYTES = 1_000_000;

export interface CallReader {
  /** Throws a BrokerError that says what is wrong and what to do. */
  read(call: ToolCall): Promise<ReadCall>;
}

export function createCallReader(deps: {
  catalog: Catalog;
  schema: ToolSchema;
  editorIds: () => Promise<string[]>;
}): CallReader {
  return {
    async read(call) {
      const unhashable = findUnhashable(call.arguments);
      if (unhashable)
        throw new BrokerError(unhashable.code, `The argument at ${unhashable.path} is not usable.`);
      // The parameters' names depend on the tool, the tool on the Editor, the Editor on a parameter: look twice.
      const editorIds = await deps.editorIds();
      const open = await deps.catalog.tool(call.tool, editorIds);
      const named = takeParameters(open, call.arguments, call.meta).parameters.editor;
      const target = resolveTarget(named, editorIds);
      if ("code" in target) throw targetError(target);
      const tool = target.kind === "named" ? await deps.catalog.tool(call.tool, [target.editor]) : open;

      const { arguments: args, parameters, wrong } = takeParameters(tool, call.arguments, call.meta);
      if (wrong.length > 0) throw new BrokerError("INVALID_ARGUMENTS", `${wrong.join("; ")}.`);
      // Bad input creates nothing, so a wait that is none is found before the operation exists.
      waitTime(parameters.timeout, 0, false);
      deps.schema.check(tool, args);
      const text = JSON.stringify(args);
      if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES) {
        throw new BrokerError(
          "ARGUMENTS_TOO_LARGE",
          `The arguments take ${Buffer.byteLength(text)} bytes of ${MAX_ARGUMENT_BYTES}.`,
        );
      }
      const key = parameters.idempotencyKey;
      return {
        principal: call.principal,
        band: call.band ?? "interactive",
        requester: { caller: call.caller, requestId: call.requestId },
        tool,
        target,
        around: { candidates: editorIds.map((id) => ({ id })) },
        editorIds,
        arguments: text,
        parameters,
        hash: hashOf({
          principal: call.principal,
          tool: tool.name,
          arguments: args,
          ...(key === undefined ? {} : { key }),
        }),
        fingerprint: fingerprintOf(tool.name, args),
      };
    },
  };
}

export function targetError(problem: TargetProblem): BrokerError {
  switch (problem.code) {
    case "NO_EDITOR":
      return new BrokerError("NO_EDITOR", "No Unity Editor has been seen yet.");
    case "EDITOR_UNKNOWN":
      return new BrokerError(
        "EDITOR_UNKNOWN",
        `No Editor's id begins with "${problem.named}"; known: ${problem.candidates.join(", ")}.`,
        { candidates: problem.candidates },
      );
    case "EDITOR_AMBIGUOUS":
      return new BrokerError(
        "EDITOR_AMBIGUOUS",
        `Several Editors could be meant: ${problem.candidates.join(", ")}.`,
        {
          candidates: problem.candidates,
        },
      );
  }
}
