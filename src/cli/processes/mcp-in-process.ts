/** `unity-broker mcp --in-process`: MCP over stdio for one client, with a gateway and a worker in the same process. */
import { createGateway } from "../../gateway/gateway.js";
import { serveStdio } from "../../gateway/mcp/mcp-session.js";
import { createWorker } from "../../worker/worker.js";
import { noteLaunch } from "../clients/launch-note.js";
import { needsServer } from "../pipe/probe.js";
import { VERSION } from "../version.js";
import { gatewayOptions, waitLimits, workerOptions } from "./options.js";
import { startServing } from "./runtime.js";
import { readSettings } from "./settings.js";
import { parentGone, stopRequested } from "./stop.js";

export async function serveInProcess(): Promise<void> {
  const stopping = Promise.race([stopRequested(), parentGone()]);
  const settings = readSettings();
  const stdin = await Promise.race([
    needsServer(process, { version: VERSION, waits: waitLimits(settings.config) }),
    stopping.then(() => undefined),
  ]);
  if (!stdin) return;
  // Obtaining a Redis may take minutes: a client that has gone by then is not served any more.
  const runtime = await startServing(settings, stopping);
  if (!runtime) return;
  noteLaunch();
  const { log } = runtime;
  const gateway = createGateway(runtime, gatewayOptions(runtime.config));
  const worker = createWorker({ ...runtime, version: VERSION }, workerOptions(runtime.config));
  const session = serveStdio(
    { gateway, log, version: VERSION },
    { stdin, stdout: process.stdout },
    { folder: process.cwd() },
  );
  const reason = await Promise.race([stopping, session.closed]);
  log.info({ reason }, "ending");
  await session.close();
  await worker.close();
  await gateway.close();
  await runtime.close();
}
