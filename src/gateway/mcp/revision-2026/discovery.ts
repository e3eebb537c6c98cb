/**
 * `server/discover`: what this server is. Clients ask it to find out which revisions a server speaks, some of them in a
 * process of its own that they end at once: so a pipe answers it by itself, without a broker.
 */
import type { WaitLimits } from "../../../shared/wait-time.js";
import { RPC_INVALID_PARAMS } from "../../../shared/wire/rpc.js";
import { instructions } from "../prompts.js";
import {
  CAPABILITIES_KEY,
  REVISION,
  resultOf,
  TASKS,
  UNCHANGING,
  unsupported,
  VERSION_KEY,
} from "./protocol.js";

export const DISCOVER = "server/discover";

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
  extensions: { [TASKS]: {} },
};

export function discovery(waits: WaitLimits): Record<string, unknown> {
  return {
    supportedVersions: [REVISION],
    capabilities: CAPABILITIES,
    instructions: instructions(waits),
    ...UNCHANGING,
  };
}

/** What the answer says of this server. */
export interface Discovered {
  version: string;
  waits: WaitLimits;
}

/**
 * The answer to a client's line, if that is a `server/discover` of this revision or a later one; undefined for anything
 * else, an earlier client's attempt among it.
 */
export function discoverAnswer(line: string, { version, waits }: Discovered): object | undefined {
  // Most lines are something else, and may be long.
  if (line.length > MOST_LINE || !line.includes(DISCOVER)) return undefined;
  const message = parsed(line);
  const { jsonrpc, id, method, params } = message ?? {};
  if (jsonrpc !== "2.0" || method !== DISCOVER) return undefined;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
  const meta = objectIn(objectIn(params)?._meta);
  if (meta === undefined || !(VERSION_KEY in meta)) return undefined;
  const answer = (said: object): object => ({ jsonrpc: "2.0", id, ...said });
  if (typeof meta[VERSION_KEY] !== "string" || objectIn(meta[CAPABILITIES_KEY]) === undefined) {
    const message = `_meta needs ${VERSION_KEY}, a string, and ${CAPABILITIES_KEY}, an object.`;
    return answer({ error: { code: RPC_INVALID_PARAMS, message } });
  }
  if (meta[VERSION_KEY] !== REVISION) return answer({ error: unsupported(meta[VERSION_KEY]) });
  return answer({ result: resultOf(discovery(waits), version) });
}

const MOST_LINE = 64 * 1024;

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return objectIn(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function objectIn(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
