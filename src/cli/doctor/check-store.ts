/** Checks Redis: reachable, fit, durable, of this schema version, and with the same time. */
import { BrokerError } from "../../shared/errors.js";
import { shellQuoted } from "../../shared/machine/private-folder.js";
import { type RedisUrl, readRedisUrl } from "../../shared/redis-url.js";
import { NO_EVICTION } from "../../shared/store/redis-check.js";
import { type Runtime, startRuntime } from "../processes/runtime.js";
import type { Settings } from "../processes/settings.js";
import { type Finding, ok, unset } from "./finding.js";

/** Clocks that differ by more than this make the ages in answers look odd, ms. */
const CLOCK_MS = 5_000;

/** The caller closes `runtime`; undefined: nothing else can be checked. */
export async function checkStore(settings: Settings): Promise<{ findings: Finding[]; runtime?: Runtime }> {
  const url = settings.config.REDIS_URL;
  const cli = redisCli(url);
  try {
    const quiet = { ...settings, config: { ...settings.config, UNITY_BROKER_LOG_LEVEL: "silent" as const } };
    const runtime = await startRuntime(quiet);
    const { describes, concerns } = runtime.store.redisCheck;
    const where = url === undefined ? "private, of this user" : readRedisUrl(url).shown;
    const findings = [
      ...(concerns.length === 0 ? [ok("Redis", `${where} (${describes})`)] : []),
      ...concerns.map(({ says, fix }) => ({
        check: "Redis",
        state: "warning" as const,
        says,
        ...(fix === undefined ? {} : { fix: `${cli} ${fix}` }),
      })),
      await checkClock(runtime),
    ];
    return { findings, runtime };
  } catch (error) {
    return {
      findings: [
        { check: "Redis", state: "problem", says: (error as Error).message, ...fixFor(error, url, cli) },
      ],
    };
  }
}

function fixFor(error: unknown, url: string | undefined, cli: string): Pick<Finding, "fix"> {
  if (!(error instanceof BrokerError)) return {};
  if (error.code === "STORE_UNREACHABLE" && url !== undefined) return { fix: unset("REDIS_URL") };
  if (error.message.includes(NO_EVICTION)) return { fix: `${cli} ${NO_EVICTION}` };
  return {};
}

async function checkClock({ store }: Runtime, now: () => number = Date.now): Promise<Finding> {
  const before = now();
  const stored = await store.operations.now();
  const apart = Math.round(stored - (before + now()) / 2);
  if (Math.abs(apart) < CLOCK_MS) return ok("clock", "as that of Redis");
  return {
    check: "clock",
    state: "warning",
    says: `Redis' clock is ${Math.abs(apart / 1000).toFixed(0)} s ${apart > 0 ? "ahead" : "behind"}; times in answers are Redis' own`,
    next: "Let the operating systems of both machines set their clocks (NTP).",
  };
}

/** The redis-cli command for this address. It prompts for a password, because people copy this output into reports. */
function redisCli(url: string | undefined): string {
  if (url === undefined) return "redis-cli";
  let parsed: RedisUrl;
  try {
    parsed = readRedisUrl(url);
  } catch {
    return "redis-cli";
  }
  // Only its Sentinels know which server the master is.
  if (parsed.masterName !== undefined) return "redis-cli -h <the master>";
  const { hosts, isTls, username, password } = parsed;
  return [
    `redis-cli -h ${hosts[0].host} -p ${hosts[0].port}`,
    ...(isTls ? ["--tls"] : []),
    ...(username ? [`--user ${shellQuoted(username)}`] : []),
    ...(password ? ["--askpass"] : []),
  ].join(" ");
}
