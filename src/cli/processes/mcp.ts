/**
 * `unity-broker mcp`: MCP over stdio for one client, by the background broker of this user. Only protocol on stdout. What it
 * loads is what a client waits for.
 */
import { CONFIG_FILE } from "../../shared/setting-names.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/processes.js";
import { environment, wantedWaits, wantsBackground } from "../environment.js";
import { brokerFolder } from "../pipe/broker-place.js";
import { BrokerNotStarted } from "../pipe/not-started.js";
import { createPipe } from "../pipe/pipe.js";
import { reachBroker } from "../pipe/reach-broker.js";
import { VERSION } from "../version.js";
import { parentGone, stopRequested } from "./stop.js";

export const mcp: Run<typeof declared.mcp> = async ({ args }) => {
  const env = environment();
  const settings = env[CONFIG_FILE]
    ? (await import("../configuration/config-file.js")).settingsEnvironment(env)
    : env;
  if (args["in-process"] || !wantsBackground(settings))
    return (await import("./mcp-in-process.js")).serveInProcess();
  const folder = brokerFolder(settings);
  const pipe = createPipe(
    {
      version: VERSION,
      folder: process.cwd(),
      waits: wantedWaits(settings),
      connect: () => reachBroker({ folder, env, settings, version: VERSION }),
      say: (text) => console.error(`unity-broker: ${text}`),
    },
    process,
  );
  void Promise.race([stopRequested(), parentGone()]).then(pipe.close);
  const { error } = await pipe.closed;
  if (error instanceof BrokerNotStarted && error.exitCode === 2) throw new UsageError(error.message);
  if (error) throw error;
};
