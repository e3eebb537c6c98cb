/** The background broker of this user, started if it does not run. */
import { PassThrough } from "node:stream";
import { UsageError } from "../command.js";
import { settingsEnvironment } from "../configuration/config-file.js";
import { environment, wantedWaits } from "../environment.js";
import { brokerFolder } from "../pipe/broker-place.js";
import { BrokerNotStarted } from "../pipe/not-started.js";
import { createPipe } from "../pipe/pipe.js";
import { reachBroker } from "../pipe/reach-broker.js";
import { VERSION } from "../version.js";
import type { BrokerClient } from "./broker-client.js";
import { clientOver, connect } from "./mcp-client.js";
import { createStreamTransport } from "./stream-transport.js";

export async function connectPiped(caller: string): Promise<BrokerClient> {
  const env = environment();
  const settings = settingsEnvironment(env);
  const folder = brokerFolder(settings);
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const pipe = createPipe(
    {
      version: VERSION,
      folder: process.cwd(),
      waits: wantedWaits(settings),
      connect: () => reachBroker({ folder, env, settings, version: VERSION }),
    },
    streams,
  );
  const failed = pipe.closed.then(({ error }): never => {
    if (error instanceof BrokerNotStarted && error.exitCode === 2) throw new UsageError(error.message);
    throw error ?? new Error("the broker ended the connection");
  });
  failed.catch(() => undefined);
  const client = await Promise.race([
    connect(createStreamTransport(streams), "the background broker", caller),
    failed,
  ]);
  await Promise.race([pipe.storeId, failed]);
  return clientOver(client, async () => {
    await client.close();
    pipe.close();
    await pipe.closed;
  });
}
