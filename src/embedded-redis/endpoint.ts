/** The file that says which process serves the private Redis, and at which address. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { replaceOwnFile } from "../shared/machine/private-folder.js";

const schema = z.object({
  pid: z.number().int().positive(),
  /** See `ProcessIdentity`: distinguishes the server from a later process with the same id. */
  mark: z.string().optional(),
  address: z.union([
    z.object({ path: z.string().min(1) }),
    z.object({ host: z.string().min(1), port: z.number().int().positive(), password: z.string().min(1) }),
  ]),
});

/** The server's process and address; written at its start, before it answers. */
export type Endpoint = Readonly<z.infer<typeof schema>>;

/** Reads the endpoint that the last start wrote; undefined if there is none, or it is invalid. */
export function readEndpoint(directory: string): Endpoint | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(endpointFile(directory), "utf8")));
  } catch {
    return undefined;
  }
}

/** For this user only, because it may hold a password. */
export function writeEndpoint(directory: string, endpoint: Endpoint): void {
  replaceOwnFile(endpointFile(directory), `${JSON.stringify(endpoint)}\n`);
}

export function removeEndpoint(directory: string): void {
  rmSync(endpointFile(directory), { force: true });
}

function endpointFile(directory: string): string {
  return join(directory, "endpoint.json");
}
