/** `unity-broker gateway`: MCP over Streamable HTTP, without a worker. */
import { createGateway } from "../../gateway/gateway.js";
import { createHttpGateway } from "../../gateway/http/http.js";
import { accessOf, endpointHint } from "../address.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/processes.js";
import { selfCommand } from "../self.js";
import { VERSION } from "../version.js";
import { gatewayOptions } from "./options.js";
import { startServing } from "./runtime.js";
import { readSettings } from "./settings.js";
import { stopRequested } from "./stop.js";

export const gateway: Run<typeof declared.gateway> = async ({ args }) => {
  const stopping = stopRequested();
  const settings = readSettings();
  const access = await accessOf(args, settings);
  const runtime = await startServing(settings, stopping);
  if (!runtime) return;
  const verbs = createGateway({ ...runtime, principals: access.auth }, gatewayOptions(runtime.config));
  const { log } = runtime;
  try {
    const http = await createHttpGateway(
      { gateway: verbs, log, version: VERSION, auth: access.auth },
      access,
    );
    console.log(endpointHint(http.url, access, selfCommand()));
    await stopping;
    await http.close();
  } finally {
    await verbs.close();
    await runtime.close();
  }
};
