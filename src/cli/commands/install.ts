/** `unity-broker install <client>`, `install --all`: writes the broker into an MCP client's configuration (docs/guide/clients.md). */

import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { parseArgs } from "citty";
import { isOfThisUser, shellQuoted } from "../../shared/machine/private-folder.js";
import { changeClients } from "../clients/change-clients.js";
import { placesOf, withoutValues } from "../clients/client-arguments.js";
import { entryOf } from "../clients/entry.js";
import { planInstall } from "../clients/installation.js";
import { launchOfThis, noteLaunch } from "../clients/launch-note.js";
import { type Run, UsageError } from "../command.js";
import * as declared from "../declared/clients.js";

export const install: Run<typeof declared.install> = async ({ rawArgs }) => {
  const given = parseArgs<typeof declared.install.args>(withoutValues(rawArgs), declared.install.args);
  const { places, address } = placesOf(given);
  const { http } = given;
  for (const option of ["token", "token-file"] as const) {
    if (given[option] === undefined || http !== undefined) continue;
    throw new UsageError(`--${option} goes with --http: a broker that the client starts itself needs none`);
  }
  const token = await givenToken(given, {
    stdin: process.stdin,
    warn: (sentence) => console.error(sentence),
  });
  const reach = http === undefined ? launchOfThis() : ({ transport: "http", url: address, token } as const);
  let isNoted = given.print;
  await changeClients(places, given, async (place) => {
    const plan = await planInstall(place, entryOf(place.client, reach), token !== undefined);
    if (/[\\/]_npx[\\/]/.test(JSON.stringify(reach))) {
      plan.warnings.push(
        "this broker runs from npx's cache, which npm empties: install the package, then repeat this",
      );
    }
    if (token !== undefined && place.scope === "project") {
      plan.warnings.push(
        "the token stands in a file that projects often share: keep it out of version control",
      );
    }
    if (!isNoted) noteLaunch();
    isNoted = true;
    return plan;
  });
};

// The bearer token given to a command: in a file that only this user may read, on stdin, or among its arguments.

/** A longer text is no token, but another file. */
const MAX_BYTES = 16 * 1024;

/** Undefined: none was given. Throws a UsageError that tells what to do. */
async function givenToken(
  args: { token?: string | undefined; "token-file"?: string | undefined },
  io: { stdin: Readable; warn(sentence: string): void },
): Promise<string | undefined> {
  const { token, "token-file": file } = args;
  if (token !== undefined && file !== undefined)
    throw new UsageError("give --token or --token-file, not both");
  if (file !== undefined) return whole(await readPrivate(file), `--token-file ${file}`);
  if (token === "-") return whole(await text(io.stdin), "--token -");
  if (token === undefined) return undefined;
  if (token === "") throw new UsageError("--token is empty: give the token that the gateway knows");
  io.warn(
    "--token: other users of this machine can see it in the list of processes. Use --token-file <path>, or --token - with the token on stdin.",
  );
  return token;
}

async function readPrivate(path: string): Promise<string> {
  const file = await open(path).catch((error: Error) => {
    throw new UsageError(`--token-file ${path} cannot be read: ${error.message}`);
  });
  try {
    const found = await file.stat();
    if (!found.isFile())
      throw new UsageError(`--token-file ${path} is not a file; to read stdin use --token -`);
    if (!isOfThisUser(found)) {
      throw new UsageError(
        `--token-file ${path} belongs to another user: put the token into a file of your own`,
      );
    }
    if (process.getuid !== undefined && (found.mode & 0o077) !== 0) {
      throw new UsageError(
        `--token-file ${path} is open to other users of this machine: chmod 600 ${shellQuoted(path)}`,
      );
    }
    return found.size > MAX_BYTES ? "" : await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function whole(said: string, from: string): string {
  const token = said.trim();
  if (token === "" || /\s/.test(token))
    throw new UsageError(`${from}: there is no token, on a line of its own`);
  return token;
}
