/** The registry's entry of a release: server.json, and beside the npm package the .mcpb bundle that the release has. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface ServerEntry {
  version: string;
  packages: Record<string, unknown>[];
}

/** `url`: where the release has the bundle. A client refuses a file of another hash. */
export function withBundle(bundle: Buffer, url: string): ServerEntry {
  const entry = JSON.parse(readFileSync(join(import.meta.dirname, "server.json"), "utf8")) as ServerEntry;
  const packed = {
    registryType: "mcpb",
    identifier: url,
    version: entry.version,
    fileSha256: createHash("sha256").update(bundle).digest("hex"),
    transport: { type: "stdio" },
  };
  return { ...entry, packages: [...entry.packages, packed] };
}
