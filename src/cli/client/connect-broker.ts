/** Which way the command line takes to the broker. */
import { readSettings, type Settings } from "../processes/settings.js";
import type { BrokerClient } from "./broker-client.js";
import { callerName } from "./read-by-name.js";

/**
 * Through the gateway where a token is set, else through the background broker, or over the store itself where none is
 * wanted. `serves`: the command needs the Editor itself, so that in the last case it brings a worker along. `isImpatient`:
 * what keeps an Editor from working is wanted at once, by a worker of this process. `key`: asks as its caller.
 *
 * Each way is loaded when it is taken: a gateway elsewhere is called without the parts that make one here.
 */
export async function connectBroker(
  options: { serves: boolean; isImpatient?: boolean; key?: string | undefined },
  settings: Settings = readSettings(),
): Promise<BrokerClient> {
  const caller = callerName(options.key);
  const { UNITY_BROKER_TOKEN: token, UNITY_BROKER_URL: url } = settings.config;
  if (token !== undefined || url !== undefined)
    return (await import("./remote-broker.js")).connectRemote(settings, caller);
  if (settings.config.UNITY_BROKER_BACKGROUND && !options.isImpatient)
    return (await import("./piped-broker.js")).connectPiped(caller);
  const { startRuntime } = await import("../processes/runtime.js");
  // Redis answers while the rest is loaded.
  const [runtime, { connectHere }] = await Promise.all([
    startRuntime({ ...settings, config: quieted(settings.config) }),
    import("./local-broker.js"),
  ]);
  return connectHere(runtime, { ...options, caller });
}

/** A command's own output is what matters: the log speaks up only if something is wrong, or debugging was asked for. */
function quieted(config: Settings["config"]): Settings["config"] {
  return config.UNITY_BROKER_LOG_LEVEL === "info" ? { ...config, UNITY_BROKER_LOG_LEVEL: "error" } : config;
}
