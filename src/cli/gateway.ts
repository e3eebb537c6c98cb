/** `unity-broker gateway`: MCP over Streamable HTTP, without a worker. */
import { createGateway } from "../gateway/gateway.js";
import { createHttpGateway } from "../gateway/http.js";
import { addressArgs, addressOf } from "./address.js";
import { command } from "./command.js";
import { gatewayOptions, readSettings, startRuntime } from "./runtime.js";
import { stopRequested } from "./stop.js";
import { VERSION } from "./version.js";

export const gateway = command({
  meta: { name: "gateway", description: "MCP over Streamable HTTP at /mcp" },
  args: addressArgs,
  async run({ args }) {
    const stopping = stopRequested();
    const settings = readSettings();
    const address = addressOf(args, settings.config);
    const runtime = await startRuntime(settings);
    const verbs = createGateway(runtime, gatewayOptions(runtime.config));
    try {
      const http = await createHttpGateway({ gateway: verbs, log: runtime.log, version: VERSION }, address);
      console.log(`MCP endpoint: ${http.url}`);
      await stopping;
      await http.close();
    } finally {
      await verbs.close();
      await runtime.close();
    }
  },
});
