/** The files by which workers find this Editor; mode 0600 because they hold the token. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { EndpointFile } from "../shared/wire.js";
import type { Identity } from "./identity.js";

export interface PublishedEndpoint {
  /** In the folder of all Editors, and in the project if that exists on disk. */
  readonly files: readonly [string, ...string[]];
  write(endpoint: EndpointFile): void;
  remove(): void;
}

export function createPublishedEndpoint(folder: string, identity: Identity): PublishedEndpoint {
  const inProject = join(identity.projectPath, "Library", "JobBroker", "endpoint.json");
  const files: [string, ...string[]] = [join(folder, `${identity.editorId}.json`)];
  if (existsSync(identity.projectPath)) files.push(inProject);
  return {
    files,
    write(endpoint) {
      for (const file of files) {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        // Renamed into place: a worker that watches the folder never reads half a file.
        writeFileSync(`${file}.new`, JSON.stringify(endpoint), { mode: 0o600 });
        renameSync(`${file}.new`, file);
      }
    },
    remove() {
      for (const file of files) rmSync(file, { force: true });
    },
  };
}
