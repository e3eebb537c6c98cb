/** MCP roots: the folders that a client on this machine says it works in. */
import { realpath } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { RootsListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../../../shared/log.js";

/**
 * Asks for the roots once the client is initialised, and again when it reports a change; only if the client declares
 * roots. Answers the roots known at the moment, as real paths, without waiting for the client.
 */
export function followRoots(server: Server, log: Log): () => readonly string[] {
  let folders: readonly string[] = [];
  let asked = 0;
  let newest = 0;

  const read = async (): Promise<void> => {
    asked += 1;
    const question = asked;
    const { roots } = await server.listRoots();
    const found = await Promise.all(roots.map(({ uri }) => pathOf(uri)));
    if (question < newest) return;
    newest = question;
    folders = found.filter((path) => path !== undefined);
    log.debug({ folders }, "read the client's roots");
  };
  const ask = (): void => {
    if (!server.getClientCapabilities()?.roots) return;
    read().catch((error: unknown) =>
      log.debug({ error: (error as Error).message }, "the client did not answer the request for its roots"),
    );
  };
  server.oninitialized = ask;
  server.setNotificationHandler(RootsListChangedNotificationSchema, ask);
  return () => folders;
}

/** Undefined if it is not a folder of this machine. */
async function pathOf(uri: string): Promise<string | undefined> {
  try {
    const path = fileURLToPath(uri);
    return await realpath(path).catch(() => path);
  } catch {
    return undefined;
  }
}
