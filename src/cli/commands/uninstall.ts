/** `unity-broker uninstall <client>`, `uninstall --all`: takes the broker out of an MCP client's configuration again. */
import { parseArgs } from "citty";
import { changeClients } from "../clients/change-clients.js";
import { placesOf, withoutValues } from "../clients/client-arguments.js";
import { planUninstall } from "../clients/installation.js";
import type { Run } from "../command.js";
import * as declared from "../declared/clients.js";

export const uninstall: Run<typeof declared.uninstall> = async ({ rawArgs }) => {
  const given = parseArgs<typeof declared.uninstall.args>(withoutValues(rawArgs), declared.uninstall.args);
  await changeClients(placesOf(given).places, given, planUninstall);
};
