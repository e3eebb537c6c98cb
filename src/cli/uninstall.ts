/** `unity-broker uninstall <client>`: takes the broker out of an MCP client's configuration again. */
import { parseArgs } from "citty";
import { clientArgs, placeOf, withoutValues } from "./clients/client-arguments.js";
import { carryOut, planUninstall } from "./clients/installation.js";
import { toPeople, toPrograms } from "./clients/report.js";
import { command } from "./command.js";

export const uninstall = command({
  meta: { name: "uninstall", description: "Takes the broker out of an MCP client's configuration" },
  args: clientArgs,
  async run({ rawArgs }) {
    const given = parseArgs<typeof clientArgs>(withoutValues(rawArgs), clientArgs);
    const { place } = placeOf(given);
    const plan = await planUninstall(place);
    const backup = given.print ? undefined : await carryOut(plan, new Date());
    console.log(
      (given.json ? toPrograms : toPeople)(plan, { scope: place.scope, isPrint: given.print, backup }),
    );
  },
});
