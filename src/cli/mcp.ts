/** `unity-broker mcp`: MCP over stdio for one client, with a worker in the same process. Only protocol on stdout. */
import { createGateway } from "../gateway/gateway.js";
import { serveStdio } from "../gateway/mcp/stdio.js";
import { createWorker } from "../worker/worker.js";
import { noteLaunch } from "./clients/launch-note.js";
import { command } from "./command.js";
import { gatewayOptions, startRuntime, workerOptions } from "./runtime.js";
import { parentGone, stopRequested } from "./stop.js";
import { VERSION } from "./version.js";

export const mcp = command({
  meta: { name: "mcp", description: "MCP over stdio: the command that a client starts" },
  async run() {
    const stopping = Promise.race([stopRequested(), parentGone()]);
    // Obtaining a Redis may take minutes: whoever has gone by then is not served any more.
    const runtime = await Promise.race([startRuntime(), stopping.then(() => undefined)]);
    if (!runtime) return;
    noteLaunch();
    const gateway = createGateway(runtime, gatewayOptions(runtime.config));
    const worker = createWorker({ ...runtime, version: VERSION }, workerOptions(runtime.config));
    const session = serveStdio(
      { gateway, log: runtime.log, version: VERSION },
      { stdin: process.stdin, stdout: process.stdout },
      { folder: process.cwd() },
    );
    const reason = await Promise.race([stopping, session.closed]);
    runtime.log.info({ reason }, "ending");
    await session.close();
    await worker.close();
    await gateway.close();
    await runtime.close();
  },
});
