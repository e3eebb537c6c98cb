/** The MCP clients of this gateway, noted in the store for as long as their sessions live; and what is noted there. */
import type { Caller } from "../shared/operation/operation.js";
import { hasRole } from "../shared/principal.js";
import type { ConnectedClient, ConnectedClients } from "../shared/store/connected-clients.js";
import type { Log } from "../shared/telemetry.js";
import { type Principals, permissionsOf } from "./auth/authenticator.js";

export interface PresentClient {
  principal: string;
  caller: Caller;
  /** As the client gave it. */
  info: { name: string; version: string };
  /** Is it still connected, as far as its transport knows? While it is not, it is not noted. */
  isHere(): boolean;
}

export interface SeenClient extends ConnectedClient {
  /** The name of its principal, if that is not the one that asks. */
  owner?: string;
}

export interface ClientPresence {
  /** Notes a client until the returned function is called. Never fails: a note that could not be written is repeated. */
  present(client: PresentClient): () => void;
  /** The connected clients of the principal, or, with the role "operate", of all. */
  clients(principal: string): Promise<SeenClient[]>;
  /** Renews no note any more; resolves when those that have left are removed. Sessions are closed before. */
  close(): Promise<void>;
}

export function createClientPresence(deps: {
  clients: ConnectedClients;
  /** The store's clock. */
  now(): Promise<number>;
  principals: Principals;
  log: Log;
}): ClientPresence {
  const { log } = deps;
  const present = new Set<Present>();
  /** What is not written yet: a gateway that ends while the store is away must not wait for each client in turn. */
  const came = new Set<Present>();
  const left = new Set<Present>();
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const note = async (which: readonly Present[]): Promise<void> => {
    const now = await deps.now();
    for (const client of which) client.since ??= now;
    await deps.clients.note(which.map(notedOf));
  };

  /** One write after the other: a client that ends must not be noted after it was removed. */
  const writeAll = async (): Promise<void> => {
    while (came.size + left.size > 0) {
      const [coming, leaving] = [[...came], [...left]];
      came.clear();
      left.clear();
      try {
        if (coming.length > 0) await note(coming);
        if (leaving.length > 0) await deps.clients.remove(leaving.map(notedOf));
      } catch (error) {
        // Who is here is noted again, and a note of who is not ends by itself.
        log.debug({ error: (error as Error).message }, "connected clients not noted");
      }
    }
    writing = undefined;
  };
  const write = (): void => {
    writing ??= Promise.resolve().then(writeAll);
  };

  const renewLater = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (present.size === 0) return;
      for (const client of present) (client.isHere() ? came : left).add(client);
      write();
      renewLater();
    }, deps.clients.lifeMs / 3).unref();
  };

  const leave = (client: Present): void => {
    if (!present.delete(client)) return;
    came.delete(client);
    // Commands of one user are one caller.
    if ([...present].some(({ id }) => id === client.id)) return;
    left.add(client);
    write();
  };

  return {
    present({ principal, caller: { id, transport }, info: { name, version }, isHere }) {
      if (isClosed) return () => undefined;
      const client: Present = { principal, id, transport, name, version, isHere };
      present.add(client);
      came.add(client);
      write();
      renewLater();
      return () => leave(client);
    },

    async clients(principal) {
      const [{ principal: asking }, all] = await Promise.all([
        permissionsOf(deps.principals, principal),
        deps.clients.all(),
      ]);
      const seen = hasRole(asking, "operate") ? all : all.filter((client) => client.principal === asking.id);
      return Promise.all(
        seen.map(async (client) => {
          if (client.principal === asking.id) return client;
          const owner = await deps.principals.find(client.principal);
          return { ...client, owner: owner?.name ?? client.principal };
        }),
      );
    },

    async close() {
      isClosed = true;
      clearTimeout(timer);
      await writing;
    },
  };
}

/** `since`: undefined until the store was reached; its clock counts. */
type Present = Omit<ConnectedClient, "since"> & Pick<PresentClient, "isHere"> & { since?: number };

function notedOf({ since = 0, isHere: _, ...client }: Present): ConnectedClient {
  return { ...client, since };
}
