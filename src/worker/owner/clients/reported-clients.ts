/** What is reported to an Editor about the connected MCP clients: enough for people, no more than a line each. */
import { clientIdentity } from "../../../shared/client-identity.js";
import { isFinal, isWaiting, type OperationRecord } from "../../../shared/operation/operation.js";
import type { ConnectedClient } from "../../../shared/store/connected-clients.js";
import type { ClientsNotice } from "../../../shared/wire/clients-notice.js";

/** More than fit into the Editor's window. */
const MOST_REPORTED = 32;

/**
 * The first of them, so that clients that come later push no other out, each with what it runs in this Editor. Neither
 * principals nor sessions: the Editor's machine may belong to somebody else.
 *
 * @param open the Editor's operations that have not ended
 */
export function reportedClients(
  connected: readonly ConnectedClient[],
  open: readonly OperationRecord[],
): ClientsNotice {
  const clients = connected.slice(0, MOST_REPORTED).map(({ id, transport, ...named }) => {
    const own = open.filter(({ createdBy, state }) => createdBy.caller === id && !isFinal(state));
    const runs = own.find(({ state }) => !isWaiting(state))?.tool;
    const waits = own.filter(({ state }) => isWaiting(state)).length;
    return {
      ...clientIdentity(named),
      transport,
      ...(runs === undefined ? {} : { runs }),
      ...(waits === 0 ? {} : { waits }),
    };
  });
  return { clients, total: connected.length };
}
