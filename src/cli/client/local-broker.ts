/** A broker in this process, over the store itself. */
import { PassThrough } from "node:stream";
import { untilEditors } from "../../gateway/editors/first-contact.js";
import { createGateway, type Gateway } from "../../gateway/gateway.js";
import { serveStdio } from "../../gateway/mcp/mcp-session.js";
import { DIAGNOSIS_LIMITS } from "../../shared/editors/diagnosis.js";
import type { Notifier } from "../../shared/store/connect.js";
import { createWorker, type WorkerOptions } from "../../worker/worker.js";
import { gatewayOptions, workerOptions } from "../processes/options.js";
import type { Runtime } from "../processes/runtime.js";
import { VERSION } from "../version.js";
import type { BrokerClient } from "./broker-client.js";
import { clientOver, connect } from "./mcp-client.js";
import { createStreamTransport } from "./stream-transport.js";

/** Somebody looks at the screen: what does not connect within seconds is shown, not waited for. */
const IMPATIENT: Partial<WorkerOptions> = {
  healthCheckMs: 200,
  diagnosis: { ...DIAGNOSIS_LIMITS, reloadMs: 2_000, announcedReloadMs: 2_000 },
};

/** How long a first command looks for an Editor, ms. */
const FIRST_LOOK_MS = 3_000;

export async function connectHere(
  runtime: Runtime,
  { serves, isImpatient = false, caller }: { serves: boolean; isImpatient?: boolean; caller: string },
): Promise<BrokerClient> {
  const gateway = createGateway(runtime, gatewayOptions(runtime.config));
  const worker = serves
    ? createWorker(
        { ...runtime, version: VERSION },
        {
          ...workerOptions(runtime.config),
          ...(isImpatient ? IMPATIENT : {}),
        },
      )
    : undefined;
  if (worker) await untilConnected(gateway, runtime.store.notifier);
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const service = serveStdio({ gateway, log: runtime.log, version: VERSION }, streams, {
    folder: process.cwd(),
  });
  const client = await connect(createStreamTransport(streams), "the broker in this process", caller);
  return clientOver(client, async () => {
    await client.close();
    await service.close();
    await worker?.close();
    await gateway.close();
    await runtime.close();
  });
}

/** A worker that has just begun has to find its Editors first; resolves when one is connected, or in vain. */
async function untilConnected({ broker }: Gateway, notifier: Notifier): Promise<void> {
  const isConnected = async (): Promise<boolean> => {
    const { editors } = await broker.editors();
    return editors.some(({ connected }) => connected) && (await broker.tools()).length > 0;
  };
  await untilEditors(notifier, isConnected, FIRST_LOOK_MS);
}
