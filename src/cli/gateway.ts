/** `unity-broker gateway`: MCP over Streamable HTTP, without a worker. */
import { createGateway } from "../gateway/gateway.js";
import { createHttpGateway } from "../gateway/http.js";
import { accessOf, addressArgs, endpointHint } from "./address.js";
import { command } from "./command.js";
import { gatewayOptions, readSettings, startRuntime } from "./runtime.js";
import { selfCommand } from "./self.js";
import { stopRequested } from "./stop.js";
import { VERSION } from "./version.js";

export const gateway = command({
  meta: { name: "gateway", description: "MCP over Streamable HTTP at /mcp" },
  args: addressArgs,
  async run({ args }) {
    const stopping = stopRequested();
    const settings = readSettings();
    const access = await accessOf(args, settings);
    const runtime = await startRuntime(settings);
    const verbs = createGateway({ ...runtime, principals: access.auth }, gatewayOptions(runtime.config));
    try {
      const http = await createHttpGateway(
        { gateway: verbs, log: runtime.log, version: VERSION, auth: access.auth },
        access,
      );
      console.log(endpointHint(http.url, access, selfCommand()));
      await stopping;
      await http.close();
    } finally {
      await verbs.close();
      await runtime.close();
    }
  },
});
