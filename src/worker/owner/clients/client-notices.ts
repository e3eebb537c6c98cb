/**
 * Tells an Editor which MCP clients are connected to the store, for its window: after hello, and when that has changed.
 * Nothing waits for it, and nothing is decided by it.
 */
import type { Log } from "../../../shared/log.js";
import type { ConnectedClients } from "../../../shared/store/connected-clients.js";
import type { Notifier } from "../../../shared/store/notifier.js";
import type { EditorLink } from "../../editor/editor-link.js";
import { latestOnly } from "../latest-only.js";
import { reportedClients } from "./reported-clients.js";

export interface ClientNotices {
  /** Called when a connection is ready: what the previous connection carried no longer counts. */
  connected(): void;
  close(): void;
}

export interface ClientNoticesOptions {
  /** Between two looks at the store, and so between two notices, at least, ms. */
  clientsRestMs: number;
}

export function createClientNotices(
  deps: {
    clients: Pick<ConnectedClients, "all" | "lifeMs">;
    notifier: Pick<Notifier, "on">;
    link: Pick<EditorLink, "state" | "tellClients">;
    log: Log;
  },
  options: ClientNoticesOptions,
): ClientNotices {
  const { clients, link, log } = deps;
  /** On the present connection. */
  let reported: string | undefined;

  const look = latestOnly<void>({ log, event: "clients", restMs: options.clientsRestMs }, async () => {
    if (link.state !== "ready") return;
    const notice = reportedClients(await clients.all());
    const text = JSON.stringify(notice);
    if (text === reported || link.state !== "ready") return;
    reported = text;
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
    close() {
      stop();
      clearInterval(timer);
    },
  };
}
