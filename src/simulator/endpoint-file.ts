/** The file by which workers find this Editor; mode 0600 because it holds the token. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EndpointFile } from "../shared/wire.js";

export interface PublishedEndpoint {
  readonly file: string;
  write(endpoint: EndpointFile): void;
  remove(): void;
}

export function createPublishedEndpoint(folder: string, editorId: string): PublishedEndpoint {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${editorId}.json`);
  return {
    file,
    write(endpoint) {
      // Renamed into place: a worker that watches the folder never reads half a file.
      writeFileSync(`${file}.new`, JSON.stringify(endpoint), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
