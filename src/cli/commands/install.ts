/** `unity-broker install <client>`: writes the broker into an MCP client's configuration (docs/guide/clients.md). */
import { parseArgs } from "citty";
import { placeOf, withoutValues } from "../clients/client-arguments.js";
import { entryOf } from "../clients/entry.js";
import { givenToken } from "../clients/given-token.js";
import { carryOut, planInstall } from "../clients/installation.js";
import { launchOfThis, noteLaunch } from "../clients/launch-note.js";
import { toPeople, toPrograms } from "../clients/report.js";
import { type Run, UsageError } from "../command.js";
import * as declared from "../declared/clients.js";

export const install: Run<typeof declared.install> = async ({ rawArgs }) => {
  const given = parseArgs<typeof declared.install.args>(withoutValues(rawArgs), declared.install.args);
  const { place, address } = placeOf(given);
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
  if (!given.print) noteLaunch();
  const backup = given.print ? undefined : await carryOut(plan, new Date());
  console.log(
    (given.json ? toPrograms : toPeople)(plan, { scope: place.scope, isPrint: given.print, backup }),
  );
};
