/** The files by which workers and people find this Editor; only the one in the user's own folder contains the token. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { EndpointFile } from "../../shared/wire/wire.js";
import type { Identity } from "../identity.js";

export interface PublishedEndpoint {
  /** In the folder of all Editors, and in the project if that exists on disk. */
  readonly files: readonly [string, ...string[]];
  write(endpoint: EndpointFile): void;
  remove(): void;
}

export const ULOOP_SESSION = "simulated";

/** `plain`: like uLoopMCP, it writes its port only into the project's settings, where it stays. */
export function createPublishedEndpoint(
  folder: string,
  identity: Identity,
  plain: boolean,
): PublishedEndpoint {
  const { projectPath } = identity;
  const inProject = plain
    ? join(projectPath, "UserSettings", "UnityMcpSettings.json")
    : join(projectPath, "Library", "JobBroker", "endpoint.json");
  const files: [string, ...string[]] = [plain ? inProject : join(folder, `${identity.editorId}.json`)];
  if (!plain) files.push(inProject);
  // Creates nothing for a project that does not exist on disk.
  const written = existsSync(projectPath) ? files : files.filter((file) => file !== inProject);
  return {
    files,
    write(endpoint) {
      const settings = {
        customPort: endpoint.port,
        projectRootPath: projectPath,
        serverSessionId: ULOOP_SESSION,
      };
      for (const file of written) {
        const { token: _secret, ...open } = endpoint;
        const said = plain ? settings : file === inProject ? open : endpoint;
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        // Renamed into place: a worker that watches the folder never reads half a file.
        // Never writes into an existing file, left by a crash or put there by others: they might read it.
        rmSync(`${file}.new`, { force: true });
        writeFileSync(`${file}.new`, JSON.stringify(said), { mode: 0o600, flag: "wx" });
        renameSync(`${file}.new`, file);
      }
    },
    remove() {
      for (const file of plain ? [] : files) rmSync(file, { force: true });
    },
  };
}
