/** `unity-broker install <client>`: writes the broker into an MCP client's configuration (docs/clients.md). */
import { fileURLToPath } from "node:url";
import { parseArgs } from "citty";
import { clientArgs, placeOf, withoutValues } from "./clients/client-arguments.js";
import { entryOf, startCommand } from "./clients/entry.js";
import { givenToken, tokenArgs } from "./clients/given-token.js";
import { carryOut, planInstall } from "./clients/installation.js";
import { toPeople, toPrograms } from "./clients/report.js";
import { command, UsageError } from "./command.js";

/** The built command line, also when this runs from the sources. */
const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const args = {
  ...clientArgs,
  http: { type: "string", description: "Reach a running gateway at this address (default: this machine's)" },
  ...tokenArgs,
} as const;

export const install = command({
  meta: { name: "install", description: "Adds the broker to an MCP client's configuration" },
  args,
  async run({ rawArgs }) {
    const given = parseArgs<typeof args>(withoutValues(rawArgs), args);
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
    const reach =
      http === undefined
        ? startCommand(MAIN, process.platform)
        : ({ transport: "http", url: address, token } as const);
    const plan = await planInstall(place, entryOf(place.client, reach), token !== undefined);
    if (token !== undefined && place.scope === "project") {
      plan.warnings.push(
        "the token stands in a file that projects often share: keep it out of version control",
      );
    }
    const backup = given.print ? undefined : await carryOut(plan, new Date());
    console.log(
      (given.json ? toPrograms : toPeople)(plan, { scope: place.scope, isPrint: given.print, backup }),
    );
  },
});
