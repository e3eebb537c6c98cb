/**
 * Tells an Editor which MCP clients are connected to the store and what each runs there, for its window: after hello, and
 * when that has changed. Nothing waits for it, and nothing is decided by it.
 */
import type { Log } from "../../../shared/log.js";
import { isFinal, isWaiting, type OperationRecord } from "../../../shared/operation/operation.js";
import { clientIdentity } from "../../../shared/principal.js";
import type { Notifier } from "../../../shared/store/connect.js";
import type { ConnectedClient, ConnectedClients } from "../../../shared/store/connected-clients.js";
import type { Listings } from "../../../shared/store/operations/listings.js";
import type { ClientsNotice } from "../../../shared/wire/clients-notice.js";
import type { EditorLink } from "../../editor/editor-link.js";
import { latestOnly } from "../heartbeat.js";

// What is reported to an Editor about the connected MCP clients: enough for people, no more than a line each.

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

export interface ClientNotices {
  /** Called when a connection is ready: what the previous connection carried no longer counts. */
  connected(): void;
  /** Called with each heartbeat: an Editor in which nothing runs costs the store nothing. */
  heard(isRunning: boolean): void;
  close(): void;
}

export interface ClientNoticesOptions {
  /** Between two looks at the store, and so between two notices, at least, ms. */
  clientsRestMs: number;
}

/** Of an Editor's open operations, the oldest. */
const MOST_OPEN = 100;

export function createClientNotices(
  deps: {
    editorId: string;
    clients: Pick<ConnectedClients, "all" | "lifeMs">;
    operations: Pick<Listings, "openOf">;
    notifier: Pick<Notifier, "on">;
    link: Pick<EditorLink, "state" | "tellClients">;
    log: Log;
  },
  options: ClientNoticesOptions,
): ClientNotices {
  const { editorId, clients, operations, link, log } = deps;
  /** On the present connection. */
  let reported: string | undefined;
  /** The Editor's window says of a client that it runs something, or waits. */
  let isShownBusy = false;

  const look = latestOnly<void>({ log, event: "clients", restMs: options.clientsRestMs }, async () => {
    if (link.state !== "ready") return;
    const connected = await clients.all();
    const open = connected.length === 0 ? [] : await operations.openOf(editorId, MOST_OPEN);
    const notice = reportedClients(connected, open);
    const text = JSON.stringify(notice);
    if (text === reported || link.state !== "ready") return;
    reported = text;
    isShownBusy = notice.clients.some(({ runs, waits }) => runs !== undefined || waits !== undefined);
    link.tellClients(notice);
  });
  const stop = deps.notifier.on("clients", () => look(), look);
  // Nobody publishes that the last gateway was killed.
  const timer = setInterval(look, clients.lifeMs);
  timer.unref();

  return {
    connected() {
      reported = undefined;
      look();
    },
    heard(isRunning) {
      if (isRunning || isShownBusy) look();
    },
    close() {
      stop();
      clearInterval(timer);
    },
  };
}
