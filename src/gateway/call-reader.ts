/** Reads and checks one tool call: everything that can be wrong with it is found before a record exists. */
import {
  type Candidate,
  editorFor,
  isMember,
  isPool,
  openTarget,
  resolveTarget,
  type Target,
  type TargetContext,
} from "../shared/editors/target.js";
import { BrokerError } from "../shared/errors.js";
import { findUnhashable, hasHalfCharacter, hashesOf, type JsonObject } from "../shared/operation/decide.js";
import type { Caller, PriorityClass, TraceContext } from "../shared/operation/operation.js";
import type { Operations } from "../shared/store/operations/operation-store.js";
import {
  type CallParameters,
  type CallRules,
  executionClassOf,
  NO_RULES,
  takeParameters,
} from "../shared/tools/call-rules.js";
import { completeTool, type Effect, type ExecutionClass, type Tool } from "../shared/tools/tool.js";
import { waitTime } from "../shared/wait-time.js";
import type { RpcId } from "../shared/wire/rpc.js";
import { type Principals, permissionsOf } from "./auth/authenticator.js";
import { argumentError, type Catalog, type OfferedTool, readArguments } from "./catalog.js";
import type { FirstContact } from "./editors/first-contact.js";
import type { KnownEditorsReader } from "./editors/known-editors.js";
import { targetError } from "./editors/target-error.js";

/** The question that a user answers before the call is executed. */
export interface Question {
  tool: string;
  editor: string;
  /** The tool's own arguments as JSON text. */
  arguments: string;
}

export interface ToolCall {
  principal: string;
  caller: Caller;
  /** The client's own id of the request; nothing is decided by it. */
  requestId: RpcId | null;
  /** The client sent it once; another broker may have received it before this one, under the same `logId`. */
  isResent?: boolean | undefined;
  /** What the client calls itself (clientLabel); nothing is decided by it. */
  client?: string | undefined;
  tool: string;
  arguments: JsonObject;
  /** MCP's `_meta`, which may always hold the broker's parameters. */
  meta?: JsonObject | undefined;
  /** The Editor that the session selected. Not read if the call names another. */
  selected?: (() => Promise<string | undefined>) | undefined;
  /** The log_id of the operation that it makes, if it makes one; undefined: any. No other call has it. */
  logId?: string | undefined;
  /** The client's working folders on this machine, as real paths. */
  folders?: readonly string[] | undefined;
  /** What it belongs to, as its client says. */
  trace?: TraceContext | undefined;
  /** False once its client has hung up or cancelled it, by all that has arrived (Exchange): a change does not begin then. */
  isAwaited?: (() => Promise<boolean>) | undefined;
  /** Aborted once nobody waits for the answer any more: a call that waits for an Editor is not accepted then. */
  signal?: AbortSignal | undefined;
  /**
   * Asks the user whether to run this; throws NOT_CONFIRMED. Undefined if the client cannot ask. `place`: which call
   * it is (another idempotency_key makes another one), and its newest operation so far: a surface that is called again with the
   * answer knows by it whether the question is still open.
   */
  askUser?: ((question: Question, place: string) => Promise<void>) | undefined;
}

export interface ReadCall {
  principal: string;
  priorityClass: PriorityClass;
  caller: Caller;
  requestId: RpcId | null;
  logId: string | undefined;
  /** What the client calls itself. */
  client: string | undefined;
  trace: TraceContext | undefined;
  tool: Tool;
  target: Target;
  /** What the Editor of a new operation is chosen from. */
  targetContext: TargetContext;
  /** The Editors that its principal may use. */
  sees(editorId: string): boolean;
  /** The store's incarnation and time when it was read (known-editors.ts). */
  incarnation: string;
  now: number;
  /** The Editors were not read for this call, but remembered from a moment ago. */
  isRemembered: boolean;
  /** Why the call cannot become an operation; an existing one may still answer it (▲4). */
  problem?: BrokerError | undefined;
  /** The tool's own arguments as JSON text, spelled as its schema spells them. */
  arguments: string;
  parameters: CallParameters;
  hash: string;
  fingerprint: string;
}

/** The Editor reads frames up to 1 MiB; the rest of a submit needs some of that. */
const MAX_ARGUMENT_BYTES = 1_000_000;

export interface ReadOptions {
  /** The Editors as they were a moment ago will do. */
  mayRemember?: boolean;
}

export interface CallReader {
  /** Throws a BrokerError that says what is wrong and what to do. */
  read(call: ToolCall, how?: ReadOptions): Promise<ReadCall>;
}

export function createCallReader(deps: {
  catalog: Pick<Catalog, "tool">;
  knownEditors: Pick<KnownEditorsReader, "read" | "remembered">;
  principals: Principals;
}): CallReader {
  /** An unknown tool is assumed to have no parameter with the name of one of the broker's. */
  const find = async (name: string, editorIds: readonly string[]): Promise<FoundTool> => {
    try {
      return { tool: await deps.catalog.tool(name, editorIds) };
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      return { tool: completeTool({ name, description: "" }), problem: error };
    }
  };

  /** As that of these Editors describes it whose calls may do most: an Editor with another description does not take the call. */
  const strictest = async (name: string, editorIds: readonly string[]): Promise<FoundTool> => {
    const each = await Promise.all(editorIds.map((id) => find(name, [id])));
    const ranked = each
      .filter(({ problem }) => problem === undefined)
      .toSorted((a, b) => EFFECTS.indexOf(b.tool.effect) - EFFECTS.indexOf(a.tool.effect));
    return ranked[0] ?? find(name, editorIds);
  };

  return {
    async read(call, { mayRemember = false } = {}) {
      if (hasHalfCharacter(call.tool))
        throw new BrokerError("UNKNOWN_TOOL", "No tool has half a character in its name.");
      // The parameters' names depend on the tool, the tool on the Editor, and the Editor on a parameter: look twice.
      const [access, known] = await Promise.all([
        permissionsOf(deps.principals, call.principal),
        mayRemember ? deps.knownEditors.remembered() : deps.knownEditors.read(),
      ]);
      const { missing, incarnation, now, isRemembered = false } = known;
      // After a loss of the store, what an Editor of which only a catalogue is noted has run is unknown (▲13).
      const isOffered = ({ isNoted }: Candidate): boolean => !isNoted || missing.length === 0;
      const candidates = known.candidates.filter((each) => access.sees(each.id) && isOffered(each));
      const editorIds = candidates.map(({ id }) => id);
      const anywhere = await find(call.tool, editorIds);
      const written = takeParameters(anywhere.tool, call.arguments, call.meta).parameters.editor;
      const selected = written === undefined ? await call.selected?.() : undefined;
      const targetContext: TargetContext = { candidates, selected, folders: call.folders, missing };
      const aim = aimOf(written, targetContext, access.sees);
      const editor = aim.problem ? undefined : editorFor(aim.target, targetContext);
      // Any Editor may join a pool.
      if (aim.target.kind === "pool" && !access.seesAll)
        throw new BrokerError(
          "FORBIDDEN",
          `${access.principal.name} may not use every Editor, so no pool either.`,
        );
      const among = typeof editor === "string" ? membersOf(editor, candidates) : undefined;
      const { tool, problem } = among ? await strictest(call.tool, among) : anywhere;

      const refused = access.refusal(tool);
      if (refused) throw refused;
      const unhashable = findUnhashable(call.arguments);
      if (unhashable)
        throw new BrokerError(unhashable.code, `The argument at ${unhashable.path} cannot be used.`);
      const { arguments: args, parameters, wrong } = takeParameters(tool, call.arguments, call.meta);
      if (wrong.length > 0) throw new BrokerError("INVALID_ARGUMENTS", `${wrong.join("; ")}.`);
      // Bad input creates nothing, so an invalid wait is refused before the operation exists.
      waitTime(parameters.timeout, 0);
      const bytes = Buffer.byteLength(JSON.stringify(args));
      if (bytes > MAX_ARGUMENT_BYTES) {
        throw new BrokerError(
          "ARGUMENTS_TOO_LARGE",
          `The arguments take ${bytes} bytes; the limit is ${MAX_ARGUMENT_BYTES}.`,
        );
      }
      // A call without an Editor becomes no operation, so its arguments need not be checked; and while some are missing another
      // Editor's tool of this name says nothing of theirs.
      const unread = aim.problem ?? anywhere.problem ?? problem;
      const areMissing = typeof editor === "object" && editor.code === "EDITORS_NOT_BACK";
      const read = unread || areMissing ? undefined : readArguments(tool.inputSchema, args);
      // An Editor with another description may have run it: then its outcome answers.
      const unfit = read && read.faults.length > 0 ? argumentError(tool.name, read.faults) : undefined;
      const key = parameters.idempotencyKey;
      return {
        principal: call.principal,
        priorityClass: access.principal.priorityClass,
        caller: call.caller,
        requestId: call.requestId,
        logId: call.logId,
        client: call.client,
        trace: call.trace,
        tool,
        target: aim.target,
        targetContext,
        sees: access.sees,
        incarnation,
        now,
        isRemembered,
        problem: unread ?? unfit,
        arguments: JSON.stringify(read?.arguments ?? args),
        parameters,
        // Of what the caller wrote: the same call again has the same hash, whatever its tool's schema says by then.
        ...hashesOf({
          principal: call.principal,
          tool: tool.name,
          arguments: args,
          ...(key === undefined ? {} : { key }),
        }),
      };
    },
  };
}

// First contact (editors/first-contact.ts): what is not known yet may come in a moment.

/** What another Editor, or a tool that an Editor does not have yet, may explain. */
const MAY_COME = new Set(["NO_EDITOR", "EDITOR_UNKNOWN", "UNKNOWN_TOOL"]);

/** Whether the answer may be another one once the Editors that are coming are known. */
function mayChange({ problem, target, targetContext }: ReadCall): boolean {
  if (problem && MAY_COME.has(problem.code)) return true;
  const { candidates } = targetContext;
  // An Editor that is coming is preferred to one whose catalogue is noted.
  if (!candidates.some(({ isNoted }) => isNoted)) return false;
  const chosen = editorFor(target, targetContext);
  return !candidates.some(({ id, isNoted }) => id === chosen && !isNoted);
}

/** Reads a call whose Editor or tool is not known to the store once more after first contact. */
export function withFirstContact(calls: CallReader, contact: Pick<FirstContact, "awaited">): CallReader {
  return {
    async read(call, how) {
      const read = await calls.read(call, how);
      if (!mayChange(read)) return read;
      await contact.awaited();
      // Without a wait, too: the Editor may have come since it was read.
      return call.signal?.aborted ? read : calls.read(call);
    },
  };
}

/** What a call may do, the least first. */
const EFFECTS: readonly Effect[] = ["read_only", "repeatable", "mutating"];

interface FoundTool {
  tool: Tool;
  problem?: BrokerError | undefined;
}

/** The Editors that may run it. */
function membersOf(editor: string, candidates: readonly Candidate[]): string[] {
  if (!isPool(editor)) return [editor];
  return candidates.filter(({ labels }) => isMember(editor, labels)).map(({ id }) => id);
}

/** The target that the call, or else its session, names. */
function aimOf(
  written: string | undefined,
  context: TargetContext,
  sees: (editorId: string) => boolean,
): { target: Target; problem?: BrokerError } {
  const { candidates, selected, missing = [] } = context;
  const named = written ?? selected;
  if (named === undefined) return { target: openTarget(context) };
  const target = resolveTarget(named, candidates);
  if (!("code" in target)) return { target };
  // The store was lost: the target may be an Editor that has not connected since.
  const isMissed = missing.length > 0 && target.code !== "EDITOR_AMBIGUOUS";
  const problem = isMissed ? { code: "EDITORS_NOT_BACK" as const, editors: missing } : target;
  return {
    target: { kind: "named", editor: named, isUnknown: true },
    problem: targetError(problem, { isSelected: written === undefined, sees }),
  };
}

// How long a new operation usually takes, and how long its call waits: its class, and what the configuration says beside.

export interface CallTimesOptions {
  /** By tool, if its own description does not state the class. */
  executionClasses?: Readonly<Record<string, ExecutionClass>>;
  rules?: CallRules;
}

export interface CallTimes {
  executionClass: ExecutionClass;
  /** Undefined: as the class says. */
  maxExecutionMs: number | undefined;
}

/** `editor`: where it goes, an Editor or a pool. */
export async function callTimes(
  { tool: { name: tool, executionClass: given }, arguments: args }: Pick<ReadCall, "tool" | "arguments">,
  editor: string,
  operations: Pick<Operations, "durationsOf">,
  { executionClasses = {}, rules = NO_RULES }: CallTimesOptions,
): Promise<CallTimes> {
  const ruled = rules.classOf({ tool, editor });
  const configured = executionClasses[tool];
  const isKnown = (ruled ?? given ?? configured) !== undefined;
  const executionClass = executionClassOf({
    tool,
    ruled,
    given,
    configured,
    recordedMs: isKnown ? [] : (await operations.durationsOf(tool)).map(({ ms }) => ms),
    classMs: rules.classMs,
    arguments: JSON.parse(args) as JsonObject,
  });
  return { executionClass, maxExecutionMs: rules.mostMs({ tool, editor, executionClass }) };
}

/** How long calls of a tool wait, s; undefined if that depends on the Editor. */
export function waitSecondsOf({ name, editors }: OfferedTool, rules: CallRules): number | undefined {
  const configured = new Set(editors.map((editor) => rules.timeout({ tool: name, editor })));
  return configured.size === 1 ? [...configured][0] : undefined;
}

// The Editor that one MCP session selected for the calls that name none.

export interface EditorSelection {
  /** Reads the store, because several gateways may serve the session. */
  editor(): Promise<string | undefined>;
  /** Undefined clears the choice. Rejects, without a change, if it cannot be stored. */
  select(editor: string | undefined): Promise<void>;
}

/** The selection of a session that outlives its process. */
export interface StoredEditorSelection {
  /** Undefined if the store does not know the session. */
  read(): Promise<{ selected?: string | undefined } | undefined>;
  write(editor: string | undefined): Promise<void>;
}

/**
 * `before`: the selection from an earlier gateway. If the store has forgotten the session, the selection made in this
 * process applies, in this process only.
 */
export function createEditorSelection(store?: StoredEditorSelection, before?: string): EditorSelection {
  let selected = before;
  return {
    async editor() {
      const stored = await store?.read();
      if (stored) selected = stored.selected;
      return selected;
    },
    async select(editor) {
      await store?.write(editor);
      selected = editor;
    },
  };
}
