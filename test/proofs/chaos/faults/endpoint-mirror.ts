/** Shows each worker the Editors at its own cables: the endpoint files of the Editors, with another port in them. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { forwarded } from "../../../harness/system/cable.js";

export interface EndpointMirror {
  /** Where the worker of this number looks. */
  folderOf(worker: number): string;
  close(): void;
}

/** `portOf` answers the port by which a worker reaches an Editor; undefined: not yet known. */
export function createEndpointMirror(
  real: string,
  folder: string,
  workers: number,
  portOf: (editorId: string, worker: number) => number | undefined,
): EndpointMirror {
  const folderOf = (worker: number): string => join(folder, `seen-by-${worker}`);
  const all = Array.from({ length: workers }, (_, worker) => worker);
  mkdirSync(real, { recursive: true });
  mkdirSync(join(folder, "sent"), { recursive: true });
  for (const worker of all) {
    mkdirSync(folderOf(worker), { recursive: true });
    // What was sent to plain Editors is written down in one place for all workers of a machine.
    symlinkSync(join(folder, "sent"), join(folderOf(worker), "sent"));
  }

  const mirror = (): void => {
    const names = readdirSync(real).filter((name) => name.endsWith(".json"));
    for (const worker of all) {
      const shown = readdirSync(folderOf(worker)).filter((name) => name.endsWith(".json"));
      for (const gone of shown.filter((name) => !names.includes(name)))
        rmSync(join(folderOf(worker), gone), { force: true });
      for (const name of names) write(worker, name);
    }
  };
  const write = (worker: number, name: string): void => {
    const endpoint = readEndpoint(join(real, name));
    const port = endpoint && portOf(endpoint.editorId, worker);
    if (!endpoint || port === undefined) return;
    const file = join(folderOf(worker), name);
    writeFileSync(`${file}.new`, JSON.stringify(forwarded(endpoint, { port })), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };

  const watcher = watch(real, mirror);
  mirror();
  return { folderOf, close: () => watcher.close() };
}

/** Undefined: removed since, or half written. */
function readEndpoint(file: string): { editorId: string; port: number } | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as { editorId: string; port: number };
  } catch {
    return undefined;
  }
}
