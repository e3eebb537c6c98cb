/** MCP roots: the folders that a client on this machine says it works in. */
import { realpath } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { RootsListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../../shared/log.js";

/**
 * Asks for the roots once the client is initialised, and again whenever it says that they changed; only a client that
 * declares roots is asked. Answers what is known at the moment, as real paths: nobody waits for the client.
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
    log.debug({ folders }, "knows the client's roots");
  };
  const ask = (): void => {
    if (!server.getClientCapabilities()?.roots) return;
    read().catch((error: unknown) =>
      log.debug({ error: (error as Error).message }, "the client did not tell its roots"),
    );
  };
  server.oninitialized = ask;
  server.setNotificationHandler(RootsListChangedNotificationSchema, ask);
  return () => folders;
}

/** Undefined for what is no folder of this machine. */
async function pathOf(uri: string): Promise<string | undefined> {
  try {
    const path = fileURLToPath(uri);
    return await realpath(path).catch(() => path);
  } catch {
    return undefined;
  }
}
