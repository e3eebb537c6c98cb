/** The connected MCP clients as list_editors shows them. */
import type { SeenClient } from "../../client-presence.js";

/** Somebody who sees all of them does not read more. */
const MOST_SHOWN = 50;

export interface ShownClients {
  clients: {
    name: string;
    version: string;
    transport: "stdio" | "http";
    since: string;
    /** Whose it is, if it is another principal's. */
    principal?: string;
    /** It is the one that asks. */
    self?: true;
  }[];
  /** How many are left out. */
  more_clients?: number;
}

/** `caller`: the id of the asking one. No other part of a session's id is shown. */
export function shownClients(seen: readonly SeenClient[], caller: string | undefined): ShownClients {
  const left = seen.length - MOST_SHOWN;
  return {
    clients: seen.slice(0, MOST_SHOWN).map(({ id, name, version, transport, since, owner }) => ({
      name,
      version,
      transport,
      since: new Date(since).toISOString(),
      ...(owner === undefined ? {} : { principal: owner }),
      ...(id === caller ? { self: true as const } : {}),
    })),
    ...(left > 0 ? { more_clients: left } : {}),
  };
}
