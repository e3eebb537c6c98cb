/** How the background broker of a configuration is reached: a file that it writes, for this user alone. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isLiving, type ProcessIdentity } from "../../shared/machine/living-process.js";

export interface BrokerEndpoint extends ProcessIdentity {
  /** A unix socket's path, or the name of a pipe of Windows. */
  readonly socket: string;
  readonly version: string;
}

/** Undefined if there is none, or its broker has ended. */
export function readEndpoint(folder: string, key: string): BrokerEndpoint | undefined {
  try {
    const read = JSON.parse(readFileSync(fileOf(folder, key), "utf8")) as Partial<BrokerEndpoint>;
    const { pid, mark, socket, version } = read;
    if (typeof pid !== "number" || typeof socket !== "string" || typeof version !== "string")
      return undefined;
    const endpoint = { pid, mark: typeof mark === "string" ? mark : undefined, socket, version };
    return isLiving(endpoint) ? endpoint : undefined;
  } catch {
    return undefined;
  }
}

/** Of every configuration of this data folder. */
export function readEndpoints(folder: string): BrokerEndpoint[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const key = /^([0-9a-f]{16})\.json$/.exec(name)?.[1];
      const endpoint = key === undefined ? undefined : readEndpoint(folder, key);
      return endpoint ? [endpoint] : [];
    });
  } catch {
    return [];
  }
}

/** Replaces the file in one step. */
export function writeEndpoint(folder: string, key: string, endpoint: BrokerEndpoint): void {
  const fresh = `${fileOf(folder, key)}.${randomBytes(4).toString("hex")}`;
  writeFileSync(fresh, `${JSON.stringify(endpoint)}\n`, { mode: 0o600 });
  renameSync(fresh, fileOf(folder, key));
}

/** Unless another broker has written it since. */
export function removeEndpoint(folder: string, key: string, pid: number): void {
  try {
    if (JSON.parse(readFileSync(fileOf(folder, key), "utf8")).pid !== pid) return;
    rmSync(fileOf(folder, key), { force: true });
  } catch {
    // It is gone already.
  }
}

function fileOf(folder: string, key: string): string {
  return join(folder, `${key}.json`);
}
