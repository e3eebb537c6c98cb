/** What is reported to an Editor about the connected MCP clients: enough for people, no more than a line each. */
import { clientIdentity } from "../../../shared/client-identity.js";
import type { ConnectedClient } from "../../../shared/store/connected-clients.js";
import type { ClientsNotice } from "../../../shared/wire/wire.js";

/** More than fit into the Editor's window. */
const MOST_REPORTED = 32;

/**
 * The first of them, so that clients that come later push no other out. Neither principals nor sessions: the Editor's
 * machine may belong to somebody else.
 */
export function reportedClients(connected: readonly ConnectedClient[]): ClientsNotice {
  const clients = connected
    .slice(0, MOST_REPORTED)
    .map(({ transport, ...named }) => ({ ...clientIdentity(named), transport }));
  return { clients, total: connected.length };
}
