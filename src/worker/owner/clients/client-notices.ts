/**
 * Tells an Editor which MCP clients are connected to the store and what each runs there, for its window: after hello, and
 * when that has changed. Nothing waits for it, and nothing is decided by it.
 */
import type { Log } from "../../../shared/log.js";
import type { ConnectedClients } from "../../../shared/store/connected-clients.js";
import type { Notifier } from "../../../shared/store/notifier.js";
import type { Listings } from "../../../shared/store/operations/listings.js";
import type { EditorLink } from "../../editor/editor-link.js";
import { latestOnly } from "../latest-only.js";
import { reportedClients } from "./reported-clients.js";

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
