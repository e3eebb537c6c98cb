/** What an Editor is told of the connected MCP clients: enough for people, and no more than a line each. */
import { clientIdentity } from "../../../shared/client-identity.js";
import type { ConnectedClient } from "../../../shared/store/connected-clients.js";
import type { ClientsNotice } from "../../../shared/wire/wire.js";

/** More than fit into a window. */
const MOST_TOLD = 32;

/**
 * The first of them, so that clients that come later push no other out. Neither principals nor sessions: the Editor's
 * machine may belong to somebody else.
 */
export function toldClients(connected: readonly ConnectedClient[]): ClientsNotice {
  const clients = connected
    .slice(0, MOST_TOLD)
    .map(({ transport, ...named }) => ({ ...clientIdentity(named), transport }));
  return { clients, total: connected.length };
}
