/** One client from its first message to its last: its server, tapped, and told of changes. */
import type { Caller } from "../../shared/operation.js";
import { followRoots } from "./roots.js";
import type { Selection } from "./selection.js";
import { createMcpServer, type McpServerDeps } from "./server.js";
import { type Line, tapTransport } from "./tap.js";

export interface McpSession {
  /** Resolves when the transport closed and everything that it had to store is stored. */
  closed: Promise<void>;
  /** Answers open waits as if their time was over, then closes the transport; takes at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
  /** The client will say nothing more; what is written to it from now on does not count as delivered. */
  hushed(): void;
}

export interface SessionClient {
  principal: string;
  caller: Caller;
  selection: Selection;
  /** Its working folder, of a client on this machine. */
  folder?: string | undefined;
}

/** Serves a client from now on. */
export function openMcpSession(deps: McpServerDeps, client: SessionClient, line: Line): McpSession {
  const { broker, log, toolList } = deps;
  const { caller, principal, selection } = client;
  const tap = tapTransport(line, {
    deliveries: broker,
    caller,
    log,
    abandoned: (logId) =>
      void broker
        .abandon(logId)
        .catch((error: Error) =>
          log.warn({ logId, error: error.message }, "that it was given up is not noted"),
        ),
  });
  const working = client.folder === undefined ? [] : [client.folder];
  const server = createMcpServer(deps, {
    principal,
    request: tap.request,
    selection,
    folders: () => [...working, ...roots()],
  });
  // Over HTTP the client may be on another machine, whose paths mean something else.
  const roots = caller.transport === "stdio" ? followRoots(server, log) : () => [];
  const stopTelling = toolList.onChange(() => {
    if (!server.getClientVersion()) return;
    server
      .sendToolListChanged()
      .catch((error: unknown) => log.debug({ error: (error as Error).message }, "change of tools not told"));
  });
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => {
      stopTelling();
      void tap.idle().then(() => {
        broker.forget(caller.id);
        resolve();
      });
    };
  });
  // Both transports start without waiting for anything: they listen when this returns.
  server
    .connect(tap.transport)
    .catch((error: unknown) => log.error({ error: (error as Error).message }, "the transport did not start"));
  return {
    closed,
    hushed: tap.hushed,
    async close(deadlineMs) {
      tap.endWaits();
      let timer: NodeJS.Timeout | undefined;
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([tap.idle(), deadline]);
      await server.close();
      await Promise.race([closed, deadline]);
      clearTimeout(timer);
    },
  };
}
