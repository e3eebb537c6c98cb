/** `unity-broker uninstall <client>`: takes the broker out of an MCP client's configuration again. */
import { parseArgs } from "citty";
import { placeOf, withoutValues } from "../clients/client-arguments.js";
import { carryOut, planUninstall } from "../clients/installation.js";
import { toPeople, toPrograms } from "../clients/report.js";
import type { Run } from "../command.js";
import * as declared from "../declared/clients.js";

export const uninstall: Run<typeof declared.uninstall> = async ({ rawArgs }) => {
  const given = parseArgs<typeof declared.uninstall.args>(withoutValues(rawArgs), declared.uninstall.args);
  const { place } = placeOf(given);
  const plan = await planUninstall(place);
  const backup = given.print ? undefined : await carryOut(plan, new Date());
  console.log(
    (given.json ? toPrograms : toPeople)(plan, { scope: place.scope, isPrint: given.print, backup }),
  );
};
