/**
 * This machine's name in the ids of its Editors: the host name as it was when this user's first Editor or broker asked. It is kept in
 * a file, because the host name of a Mac changes with the network. The bridge reads the same file (Core/Endpoint/MachineName.cs).
 */
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { dirname, join } from "node:path";
import { makeOwnFolder } from "./private-folder.js";

/** The present host name where the file can be neither read nor made: no Editor of this user has a ledger there either. */
export function thisMachine(stateFolder = join(homedir(), ".unity-job-broker"), host = hostname()): string {
  const file = join(stateFolder, "machine");
  try {
    return nameIn(file) ?? nameMade(file, host);
  } catch {
    return host;
  }
}

function nameIn(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Linked into its place with its content: of several processes at once, one makes it and all read the same. */
function nameMade(file: string, host: string): string {
  makeOwnFolder(dirname(file));
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    writeFileSync(fresh, `${host}\n`, { mode: 0o600 });
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return readFileSync(file, "utf8").trim();
}
