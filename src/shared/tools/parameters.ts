/** The broker's own optional parameters, added to every Unity tool: how they are offered and taken out again. */
import { bare } from "../did-you-mean.js";
import { hasHalfCharacter, type JsonObject } from "../operation/idempotency.js";
import { WAITS, type WaitLimits, waitText } from "../wait-time.js";
import type { JsonObjectSchema, Tool } from "./tool.js";

export interface CallParameters {
  /** Seconds to wait for the outcome, as the caller wrote it. */
  timeout?: unknown;
  idempotencyKey?: string;
  forceNew?: string;
  editor?: string;
  ifAway?: IfAway;
}

/** What becomes of a call while its Editor is not connected. */
export const IF_AWAY = ["wait", "refuse"] as const;
export type IfAway = (typeof IF_AWAY)[number];

/** Short: each tool of a list repeats them. What they are for in full stands in the server's instructions. */
const OFFERED = {
  timeout: { type: "number" },
  idempotency_key: {
    type: "string",
    description: "The same when you retry.",
  },
  force_new: { type: "string", description: "To run it again on purpose: its log_id." },
  editor: { type: "string", description: "The Editor: its project's name or id, or pool:<labels>." },
} as const;

type OfferedName = keyof typeof OFFERED;
const NAMES = Object.keys(OFFERED) as OfferedName[];
/** Taken where a call has it, and not offered: a pipeline knows it, and each tool of a list would repeat it. */
const TAKEN = [...NAMES, "if_away"] as const;
type TakenName = (typeof TAKEN)[number];

/**
 * The tool's schema with the broker's parameters added, as far as they can matter, prefixed with `broker_` if the tool has a parameter of
 * that name. `several`: there are several Editors to choose from. `schema`: another form of the tool's own. All are accepted in any call.
 */
export function offerParameters(
  tool: Tool & { waitSeconds?: number | undefined },
  { several, waits = WAITS }: { several: boolean; waits?: WaitLimits },
  schema = tool.inputSchema,
): JsonObjectSchema {
  const properties = { ...schema.properties };
  // The same call of another tool runs again anyway.
  const ofChanges = tool.effect === "mutating" ? (["idempotency_key", "force_new"] as const) : [];
  const offered: OfferedName[] = ["timeout", ...ofChanges, ...(several ? (["editor"] as const) : [])];
  const timeout = {
    ...OFFERED.timeout,
    description: waitText(tool.waitSeconds ?? waits.standardSeconds, waits),
  };
  for (const name of offered) properties[nameFor(tool, name)] = { ...OFFERED, timeout }[name];
  return { ...schema, properties };
}

/** Takes the broker's parameters out of a call's arguments, however they are spelled, and from `_meta`, where they are always accepted. */
export function takeParameters(
  tool: Tool,
  args: JsonObject,
  meta: JsonObject = {},
): { arguments: JsonObject; parameters: CallParameters; wrong: string[] } {
  const own = { ...args };
  const taken: Partial<Record<TakenName, unknown>> = {};
  const ofTool = new Set(Object.keys(tool.inputSchema.properties ?? {}).map(bare));
  // Backwards: the first one that is spelled so counts.
  const spelled = new Map(
    Object.keys(own)
      .toReversed()
      .map((key) => [bare(key), key]),
  );
  for (const name of TAKEN) {
    const inArguments = nameFor(tool, name);
    const spelling = ofTool.has(bare(inArguments)) ? undefined : spelled.get(bare(inArguments));
    const written = inArguments in own ? inArguments : (spelling ?? inArguments);
    taken[name] = used(own[written]) ?? used(meta[name]) ?? used(meta[`broker_${name}`]);
    delete own[written];
  }
  const wrong: string[] = [];
  const text = (name: TakenName): string | undefined => {
    const value = taken[name];
    if (value === undefined) return undefined;
    if (typeof value === "string" && value.length <= 200 && !hasHalfCharacter(value)) return value;
    wrong.push(`${nameFor(tool, name)} must be a string of 1 to 200 characters`);
    return undefined;
  };
  const idempotencyKey = text("idempotency_key");
  const forceNew = text("force_new");
  const editor = text("editor");
  const policy = text("if_away");
  const ifAway = IF_AWAY.find((each) => each === policy);
  if (policy !== undefined && ifAway === undefined)
    wrong.push(`${nameFor(tool, "if_away")} must be one of ${IF_AWAY.join(", ")}`);
  return {
    arguments: own,
    parameters: {
      timeout: taken.timeout,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(forceNew === undefined ? {} : { forceNew }),
      ...(editor === undefined ? {} : { editor }),
      ...(ifAway === undefined ? {} : { ifAway }),
    },
    wrong,
  };
}

/** null and "" say that it is not used. */
const used = (value: unknown): unknown => (value === null || value === "" ? undefined : value);

function nameFor(tool: Tool, name: TakenName): string {
  return Object.hasOwn(tool.inputSchema.properties ?? {}, name) ? `broker_${name}` : name;
}
