/**
 * What revision 2026-07-28 of MCP has on the wire, as far as it differs from the revisions before. Loads nothing: a client's
 * pipe answers with it too.
 */
import { head } from "../../../shared/printable.js";

export const REVISION = "2026-07-28";

/** In a request's `_meta`; the client's name and the level of log messages are optional. */
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

/** In the `_meta` of each result, and of each message about a subscription. */
const SERVER_KEY = "io.modelcontextprotocol/serverInfo";
export const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";

/** The extension in whose terms a call goes on after its wait. */
export const TASKS = "io.modelcontextprotocol/tasks";

export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
const UNSUPPORTED_VERSION = -32022;

interface ServerInfo {
  name: string;
  title: string;
  version: string;
}

function serverInfo(version: string): ServerInfo {
  return { name: "unity-job-broker", title: "Unity Job Broker", version };
}

/** What every result says. */
export function resultOf(fields: Record<string, unknown>, version: string): Record<string, unknown> {
  const meta = (fields._meta ?? {}) as Record<string, unknown>;
  return {
    resultType: "complete",
    ...fields,
    _meta: { ...meta, [SERVER_KEY]: serverInfo(version) },
  };
}

/** How long a client may use a result again without asking, and whether another client may. */
export interface CacheHints {
  ttlMs: number;
  cacheScope: "public" | "private";
}

/** The same for every client of this version. */
export const UNCHANGING: CacheHints = { ttlMs: 3_600_000, cacheScope: "public" };

/** Clients hear of changes if they listen; one that does not looks again soon. */
export const OWN_LIST: CacheHints = { ttlMs: 2_000, cacheScope: "private" };

/** What a stored result says does not change, but reading it is noted (▲7). */
export const ALWAYS_ASK: CacheHints = { ttlMs: 0, cacheScope: "private" };

/** What is wrong with a request's version, if anything; `data` is the protocol's. */
export function unsupported(requested: unknown): { code: number; message: string; data: object } {
  return {
    code: UNSUPPORTED_VERSION,
    message: `Unsupported protocol version: ${head(String(requested), 100)}. Use ${REVISION}, or initialize for an earlier one.`,
    data: { supported: [REVISION], requested },
  };
}
