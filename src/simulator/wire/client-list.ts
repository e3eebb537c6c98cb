/** The MCP clients that the worker named last, as a window would list them. */
import { type ClientIdentity, clientIdentity } from "../../shared/client-identity.js";
import { ClientsNotice } from "../../shared/wire/clients-notice.js";
import type { Peer } from "./tcp-server.js";

export interface ListedClient extends ClientIdentity {
  transport: "stdio" | "http";
  /** The tool that it runs here. */
  runs?: string;
  /** How many of its operations wait. */
  waits?: number;
}

export interface ClientList {
  /** Replaces the list. What cannot be read changes nothing. */
  take(from: Peer, params: unknown): void;
  /** Nobody says any more when this list changes. */
  left(peer: Peer): void;
  /** Undefined: nobody named any. */
  shown(): { clients: readonly ListedClient[]; total: number } | undefined;
}

/** Whatever the worker says. */
const MOST_LISTED = 32;

export function createClientList(): ClientList {
  let from: Peer | undefined;
  let shown: ReturnType<ClientList["shown"]>;
  return {
    take(peer, params) {
      const read = ClientsNotice.safeParse(params);
      if (!read.success) return;
      const { clients, total } = read.data;
      from = peer;
      const listed = clients.slice(0, MOST_LISTED);
      shown = {
        clients: listed.map(({ transport, runs, waits, ...named }) => ({
          ...clientIdentity(named),
          transport,
          ...(runs === undefined ? {} : { runs }),
          ...(waits === undefined ? {} : { waits }),
        })),
        total: Math.max(total, clients.length),
      };
    },
    left(peer) {
      if (peer === from) shown = undefined;
    },
    shown: () => shown,
  };
}
