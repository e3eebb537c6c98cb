/** `unity-broker gateway`: MCP over Streamable HTTP, without a worker. */
import { createGateway } from "../gateway/gateway.js";
import { createHttpGateway } from "../gateway/http.js";
import { addressArgs, addressOf } from "./address.js";
import { command } from "./command.js";
import { gatewayOptions, startRuntime } from "./runtime.js";
import { stopRequested } from "./stop.js";
import { VERSION } from "./version.js";

export const gateway = command({
  meta: { name: "gateway", description: "MCP over Streamable HTTP at /mcp" },
  args: addressArgs,
  async run({ args }) {
    const stopping = stopRequested();
    const runtime = await startRuntime();
    const verbs = createGateway(runtime, gatewayOptions(runtime.config));
    try {
      const http = await createHttpGateway(
        { gateway: verbs, log: runtime.log, version: VERSION },
        addressOf(args, runtime.config),
      );
      console.log(`MCP endpoint: ${http.url}`);
      await stopping;
      await http.close();
    } finally {
      await verbs.close();
      await runtime.close();
    }
  },
});
