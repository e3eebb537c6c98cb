/** The files by which workers and people find this Editor; the token is only in the one of the user's own folder. */
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

/** `plain`: as uLoopMCP does, its port is only in the project's own settings, and stays there. */
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
  // Nothing is created for a project that is only a name.
  const written = existsSync(projectPath) ? files : files.filter((file) => file !== inProject);
  return {
    files,
    write(endpoint) {
      const settings = {
        customPort: endpoint.port,
        projectRootPath: projectPath,
        serverSessionId: "simulated",
      };
      for (const file of written) {
        const { token: _secret, ...open } = endpoint;
        const said = plain ? settings : file === inProject ? open : endpoint;
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        // Renamed into place: a worker that watches the folder never reads half a file.
        // What a crash left there, or somebody else put there, is not written into: others might read it.
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
