/** Reads one tool call: everything that can be wrong with it is found here, before a record exists. */

import { BrokerError } from "../shared/errors.js";
import { findUnhashable, fingerprintOf, hashOf, type JsonObject } from "../shared/idempotency.js";
import type { Band } from "../shared/operation.js";
import type { CallParameters } from "../shared/parameters.js";
import { takeParameters } from "../shared/parameters.js";
import type { Requester } from "../shared/replay.js";
import { type Around, editorFor, resolveTarget, type Target } from "../shared/target.js";
import { completeTool, type Tool } from "../shared/tool.js";
import { waitTime } from "../shared/wait-time.js";
import { accessOf } from "./access.js";
import type { Principals } from "./auth/authenticator.js";
import type { Catalog } from "./catalog.js";
import type { KnownEditorsReader } from "./known-editors.js";
import { targetError } from "./target-error.js";
import type { ToolSchema } from "./tool-schema.js";

/** What a user is asked before it is executed. */
export interface Question {
  tool: string;
  editor: string;
  /** The tool's own arguments as JSON text. */
  arguments: string;
}

export interface ToolCall extends Requester {
  principal: string;
  tool: string;
  arguments: JsonObject;
  /** MCP's `_meta`: the broker's parameters are always accepted there. */
  meta?: JsonObject | undefined;
  /** The Editor that the session selected: the call names it, unless it names another. */
  selected?: string | undefined;
  /** Where its client works on this machine, as real paths. */
  folders?: readonly string[] | undefined;
  /** Asks the user whether to run this; throws NOT_CONFIRMED. Undefined: nobody can be asked. */
  confirm?: ((question: Question) => Promise<void>) | undefined;
}

export interface ReadCall {
  principal: string;
  band: Band;
  requester: Requester;
  tool: Tool;
  target: Target;
  /** What the Editor of a new operation is chosen by. */
  around: Around;
  /** The Editors that its principal may use. */
  sees(editorId: string): boolean;
  /** Of the store that told them. */
  incarnation: string;
  /** Why the call cannot become an operation; one that is there already may still answer it (▲4). */
  problem?: BrokerError | undefined;
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
  catalog: Pick<Catalog, "tool">;
  schema: ToolSchema;
  knownEditors: Pick<KnownEditorsReader, "read">;
  principals: Principals;
}): CallReader {
  /** A tool that is not known (any more) is assumed to have no parameter that is called as one of the broker's. */
  const find = async (name: string, editorIds: readonly string[]): Promise<Found> => {
    try {
      return { tool: await deps.catalog.tool(name, editorIds) };
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      return { tool: completeTool({ name, description: "" }), problem: error };
    }
  };

  return {
    async read(call) {
      const unhashable = findUnhashable(call.arguments);
      if (unhashable)
        throw new BrokerError(unhashable.code, `The argument at ${unhashable.path} is not usable.`);
      // The parameters' names depend on the tool, the tool on the Editor, the Editor on a parameter: look twice.
      const { selected, folders } = call;
      const [access, known] = await Promise.all([
        accessOf(deps.principals, call.principal),
        deps.knownEditors.read(),
      ]);
      const { missing, incarnation } = known;
      const candidates = known.candidates.filter(({ id }) => access.sees(id));
      const around: Around = { candidates, selected, folders, missing };
      const editorIds = around.candidates.map(({ id }) => id);
      const anywhere = await find(call.tool, editorIds);
      const written = takeParameters(anywhere.tool, call.arguments, call.meta).parameters.editor;
      const aim = aimOf(written, around, access.sees);
      const editor = aim.problem ? undefined : editorFor(aim.target, around);
      const { tool, problem } = typeof editor === "string" ? await find(call.tool, [editor]) : anywhere;

      const refused = access.refusal(tool);
      if (refused) throw refused;
      const { arguments: args, parameters, wrong } = takeParameters(tool, call.arguments, call.meta);
      if (wrong.length > 0) throw new BrokerError("INVALID_ARGUMENTS", `${wrong.join("; ")}.`);
      // Bad input creates nothing, so a wait that is none is found before the operation exists.
      waitTime(parameters.timeout, 0, false);
      const text = JSON.stringify(args);
      deps.schema.check(tool, args, text.length);
      if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES) {
        throw new BrokerError(
          "ARGUMENTS_TOO_LARGE",
          `The arguments take ${Buffer.byteLength(text)} bytes of ${MAX_ARGUMENT_BYTES}.`,
        );
      }
      const key = parameters.idempotencyKey;
      return {
        principal: call.principal,
        band: access.principal.band,
        requester: { caller: call.caller, requestId: call.requestId },
        tool,
        target: aim.target,
        around,
        sees: access.sees,
        incarnation,
        problem: anywhere.problem ?? aim.problem ?? problem,
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

interface Found {
  tool: Tool;
  problem?: BrokerError | undefined;
}

/** What the call, or else its session, said of the target. */
function aimOf(
  written: string | undefined,
  { candidates, selected, missing = [] }: Around,
  sees: (editorId: string) => boolean,
): { target: Target; problem?: BrokerError } {
  const named = written ?? selected;
  const target = resolveTarget(named, candidates);
  if (!("code" in target)) return { target };
  // The store was lost: it may be one of those that have not connected since.
  const isMissed = missing.length > 0 && target.code !== "EDITOR_AMBIGUOUS";
  const problem = isMissed ? { code: "EDITORS_NOT_BACK" as const, editors: missing } : target;
  return {
    target: { kind: "named", editor: named ?? "", isUnknown: true },
    problem: targetError(problem, { isSelected: written === undefined, sees }),
  };
}
