/** SIGHUP: a process that serves reads its configuration again, and takes over what it can while it serves. */
import type { Gateway } from "../../gateway/gateway.js";
import type { Config } from "../../shared/config.js";
import { type FileSetting, keyOf } from "../../shared/setting-names.js";
import type { Store } from "../../shared/store/store.js";
import type { ServingLog } from "../log.js";
import { changeableOptions } from "../processes/options.js";
import { changedSettings } from "./effective.js";
import { problemLine, WrongConfiguration } from "./problems.js";
import { readConfiguration } from "./read-configuration.js";

/** Read at each call, line or write; everything else is read once, at the start. */
const LIMITS = ["UNITY_BROKER_MAX_RUNNING", "UNITY_BROKER_MAX_QUEUED", "UNITY_BROKER_MAX_IN_QUEUE"] as const;
const OF_GATEWAYS = [
  "UNITY_BROKER_EXECUTION_CLASSES",
  "UNITY_BROKER_CLASS_RULES",
  "UNITY_BROKER_TOOL_RULES",
  "UNITY_BROKER_EDITOR_RULES",
  "UNITY_BROKER_CANCEL_OVERDUE",
  "UNITY_BROKER_CONFIRM_DESTRUCTIVE",
  "UNITY_BROKER_IF_AWAY",
] as const;
const RELOADED: readonly FileSetting[] = ["UNITY_BROKER_LOG_LEVEL", ...LIMITS, ...OF_GATEWAYS];

const isOfGateways = (name: FileSetting): boolean => OF_GATEWAYS.some((known) => known === name);

export interface Served {
  config: Config;
  log: ServingLog;
  store: Pick<Store, "changeLimits">;
  /** Undefined: a worker alone. */
  gateway?: Pick<Gateway, "change"> | undefined;
}

export interface Reload {
  /** As soon as it serves, if it does not yet. */
  request(): void;
  serves(served: Served): void;
}

export function createReload(read: () => Config = readConfiguration): Reload {
  let isDue = false;
  let reload = (): void => {
    isDue = true;
  };
  return {
    request: () => reload(),
    serves(served) {
      let running = served.config;
      reload = () => {
        running = reloaded(running, read, served);
      };
      if (isDue) reload();
    },
  };
}

/** The configuration from now on. A wrong one changes nothing. */
function reloaded(running: Config, read: () => Config, { log, store, gateway }: Served): Config {
  let wanted: Config;
  try {
    wanted = read();
  } catch (error) {
    const problems =
      error instanceof WrongConfiguration ? error.problems.map(problemLine) : [(error as Error).message];
    log.error({ problems }, "the configuration is wrong: nothing was changed");
    return running;
  }
  const changed = changedSettings(running, wanted).filter((name) => gateway || !isOfGateways(name));
  const taken = changed.filter((name) => RELOADED.includes(name));
  const next: Config = { ...running, ...Object.fromEntries(taken.map((name) => [name, wanted[name]])) };
  const left = changed.filter((name) => !taken.includes(name));
  // Whatever the levels are: a person asked for it, and looks for the answer.
  log.setLevel("info");
  log.info({ changed: taken.map(keyOf), needRestart: left.map(keyOf) }, "the configuration was read again");
  log.setLevel(next.UNITY_BROKER_LOG_LEVEL);
  store.changeLimits({
    maxRunning: next.UNITY_BROKER_MAX_RUNNING,
    maxQueued: next.UNITY_BROKER_MAX_QUEUED,
    maxInQueue: next.UNITY_BROKER_MAX_IN_QUEUE,
  });
  gateway?.change(changeableOptions(next));
  return next;
}
