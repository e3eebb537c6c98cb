/**
 * Where the background broker of this environment is: one for each configuration and user. Another environment (another
 * store, data folder or setting) gets another broker. Reads the environment without the configuration's schema, which
 * would triple the time that a client's pipe needs to start.
 */
import { createHash } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { defaultDirectories, type Environment } from "../../embedded-redis/directories.js";
import { BROKER_SETTINGS } from "../../shared/daemon-environment.js";

export interface BrokerPlace {
  /** Names the configuration. */
  key: string;
  dataDir: string;
  /** Claims of those that start or end a broker, and what is known of the brokers (endpoint.ts). */
  folder: string;
}

export function dataDirOf(env: Environment): string {
  return env.UNITY_BROKER_DATA_DIR || defaultDirectories(env).dataDir;
}

/** Where the brokers of a data folder say where they are. */
export function brokersFolder(dataDir: string): string {
  return join(dataDir, "brokers");
}

export function brokerPlace(env: Environment): BrokerPlace {
  const dataDir = dataDirOf(env);
  mkdirSync(brokersFolder(dataDir), { recursive: true, mode: 0o700 });
  const folder = realpathSync(brokersFolder(dataDir));
  const settings = BROKER_SETTINGS.map((name) => env[name] ?? "");
  const configuration = JSON.stringify({ folder, home: homedir(), settings });
  return { key: createHash("sha256").update(configuration).digest("hex").slice(0, 16), dataDir, folder };
}
