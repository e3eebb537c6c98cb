/** `unity-broker install <client>`, `install --all`: writes the broker into an MCP client's configuration (docs/guide/clients.md). */
import { parseArgs } from "citty";
import { changeClients } from "../clients/change-clients.js";
import { placesOf, withoutValues } from "../clients/client-arguments.js";
import { entryOf } from "../clients/entry.js";
import { givenToken } from "../clients/given-token.js";
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
