/** A command's settings: the configuration, and the folders of this user. */
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { defaultDirectories } from "../../embedded-redis/directories.js";
import type { Config } from "../../shared/config.js";
import { ownFolder, requirePrivateFolder } from "../../shared/machine/private-folder.js";
import { readConfiguration } from "../configuration/read-configuration.js";
import { environment } from "../environment.js";

export interface Settings {
  config: Config;
  dataDir: string;
  cacheDir: string;
  editorsFolder: string;
  /** Editors that are named because they cannot be found. */
  named: Config["UNITY_BROKER_EDITORS"];
  /** Undefined: Editors with MCP for Unity are not driven. */
  unityMcpFolder: string | undefined;
  tokensFile: string;
  localTokenFile: string;
}

/** Throws WrongConfiguration. */
export function readSettings(): Settings {
  const config = readConfiguration();
  const directories = defaultDirectories(environment());
  const dataDir = config.UNITY_BROKER_DATA_DIR ?? directories.dataDir;
  return {
    config,
    dataDir,
    cacheDir: config.UNITY_BROKER_CACHE_DIR ?? directories.cacheDir,
    editorsFolder: config.UNITY_BROKER_EDITORS_DIR ?? join(homedir(), ".unity-job-broker", "editors"),
    named: config.UNITY_BROKER_EDITORS,
    unityMcpFolder: config.UNITY_BROKER_UNITY_MCP
      ? (config.UNITY_MCP_STATUS_DIR ?? join(homedir(), ".unity-mcp"))
      : undefined,
    tokensFile: config.UNITY_BROKER_TOKENS_FILE ?? join(dataDir, "tokens.json"),
    localTokenFile: join(dataDir, "local.token"),
  };
}

/** Other users get nothing out of this user's folders and nothing into them. Throws NotPrivate. */
export function ownFolders({ config, dataDir, cacheDir, editorsFolder }: Settings): void {
  const own = (folder: string, isChosen: boolean): void =>
    isChosen ? requirePrivateFolder(folder) : ownFolder(folder);
  own(dataDir, config.UNITY_BROKER_DATA_DIR !== undefined);
  own(cacheDir, config.UNITY_BROKER_CACHE_DIR !== undefined);
  if (config.UNITY_BROKER_EDITORS_DIR !== undefined) return;
  ownFolder(dirname(editorsFolder));
  ownFolder(editorsFolder);
}
