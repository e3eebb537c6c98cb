/** `doctor --security`: who else has access on this machine, and how to remove it. Connects to nothing and changes nothing. */
import { existsSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../embedded-redis/directories.js";
import { readEndpoint } from "../../embedded-redis/endpoint.js";
import { cachedTree, whyNotCached } from "../../embedded-redis/package/cached-redis.js";
import { isPrivateSocket, problemWith } from "../../embedded-redis/run-directory.js";
import { createTokens } from "../../gateway/auth/tokens.js";
import { isLoopback } from "../../gateway/http/loopback.js";
import { shellQuoted } from "../../shared/machine/private-folder.js";
import { readRedisUrl } from "../../shared/redis-url.js";
import type { Settings } from "../processes/settings.js";
import { type Finding, ok, remove, unset } from "./finding.js";

export async function checkSecurity(settings: Settings, env: Environment): Promise<Finding[]> {
  return [
    checkPrivate("data folder", [settings.dataDir], 0o700),
    checkPrivate("secrets", secretsIn(settings), 0o600),
    checkPrivate("Editors folder", [settings.editorsFolder], 0o700),
    checkPrivate("Editors' tokens", filesIn(settings.editorsFolder), 0o600),
    checkRunDirectory(settings, env),
    checkCachedRedis(settings),
    checkRedisAddress(settings),
    checkListening(settings),
    checkPlainEditors(settings),
    ...(await checkGrants(settings)),
    checkAudit(settings),
  ];
}

function secretsIn({ tokensFile, localTokenFile, dataDir, config }: Settings): string[] {
  const redis = join(dataDir, "redis");
  return [
    tokensFile,
    localTokenFile,
    ...filesIn(dataDir).filter((file) => file.endsWith(".key")),
    join(redis, "endpoint.json"),
    join(redis, "redis.conf"),
    ...filesIn(join(dataDir, "audit")),
    ...(config.REDIS_PASSWORD_FILE === undefined ? [] : [config.REDIS_PASSWORD_FILE]),
  ];
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

/** The first of these that another user owns or may open; missing files are harmless. */
function checkPrivate(check: string, paths: readonly string[], mode: number): Finding {
  const there = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  for (const path of there) {
    const found = lstatSync(path);
    const says = whyOpen(path, found);
    if (says === undefined) continue;
    const isOthers = found.isSymbolicLink() || found.uid !== process.getuid?.();
    return {
      check,
      state: "problem",
      says,
      ...(isOthers
        ? { next: "Find out who put it there, then remove it or take it over:", fix: remove(path) }
        : { fix: `chmod ${mode.toString(8)} ${shellQuoted(path)}` }),
    };
  }
  if (there.length === 0) return ok(check, "not there yet");
  return ok(
    check,
    there.length === 1 ? `${there[0]} is yours alone` : `${there.length} files are yours alone`,
  );
}

/** On Windows the permissions of the user's folder decide. */
function whyOpen(path: string, found: Stats): string | undefined {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (found.isSymbolicLink()) return `${path} is a link`;
  if (found.uid !== uid) return `${path} belongs to user ${found.uid}, not to you (${uid})`;
  return (found.mode & 0o077) === 0 ? undefined : `${path} can be opened by other users of this machine`;
}

function checkRunDirectory({ dataDir, config }: Settings, env: Environment): Finding {
  const check = "run directory";
  if (config.REDIS_URL !== undefined) return ok(check, "none: REDIS_URL names the Redis");
  const address = readEndpoint(join(dataDir, "redis"))?.address;
  if (address && "path" in address && existsSync(address.path)) {
    if (isPrivateSocket(address.path)) return ok(check, `${dirname(address.path)} is yours alone`);
    return {
      check,
      state: "problem",
      says: `the private Redis' socket ${address.path} lies where others could have put it`,
      next: "It is not used; the next start makes another one. Who owns its folders is who tried.",
    };
  }
  const { XDG_RUNTIME_DIR: runtime } = env;
  const problem = runtime === undefined || process.platform === "win32" ? undefined : problemWith(runtime);
  if (problem === undefined) return ok(check, "no private Redis runs");
  return {
    check,
    state: "warning",
    says: `XDG_RUNTIME_DIR is not used: ${problem}`,
    fix: unset("XDG_RUNTIME_DIR"),
  };
}

function checkCachedRedis({ cacheDir }: Settings): Finding {
  const check = "cached Redis";
  const tree = cachedTree(cacheDir);
  if (process.platform !== "linux" || !existsSync(tree)) return ok(check, "none");
  const says = whyNotCached(tree);
  if (says === undefined) return ok(check, `${tree} is yours alone, and matches its packages`);
  return {
    check,
    state: "problem",
    says,
    next: "It is not run. Remove it: the next start fetches the signed package again.",
    fix: `rm -r ${shellQuoted(tree)}`,
  };
}

function checkRedisAddress({ config: { REDIS_URL: url, REDIS_PASSWORD_FILE: file } }: Settings): Finding {
  const check = "Redis";
  if (url === undefined)
    return ok(check, "private: a socket in a folder of yours, or a local port with a password");
  const { hosts, isTls, password, shown: where } = readRedisUrl(url);
  if (password === "") {
    return {
      check,
      state: "warning",
      says: `${where} asks for no password: every program that reaches it can run any tool in your Editors`,
      next: "Give it a password (`requirepass`), and name the file that has it in REDIS_PASSWORD_FILE.",
    };
  }
  if (!isTls && hosts.some(({ host }) => !isLoopback(host) && /[.:]/.test(host))) {
    return {
      check,
      state: "warning",
      says: `${where} is reached without TLS: the password and all results travel in the clear`,
      next: "Use rediss:// (TLS), or a private network.",
    };
  }
  if (file === undefined) {
    return {
      check,
      state: "warning",
      says: "the password of Redis stands in the variable REDIS_URL",
      next: "Take it out of there, and name a file that has it in REDIS_PASSWORD_FILE.",
    };
  }
  return ok(check, where);
}

function checkListening({ config: { UNITY_BROKER_HOST: host } }: Settings): Finding {
  if (isLoopback(host)) return ok("gateway", `listens on ${host}: this machine only`);
  return {
    check: "gateway",
    state: "warning",
    says: `listens on ${host}: other machines reach it, by plain HTTP`,
    next: "Put TLS in front of it, or let it listen on this machine only:",
    fix: unset("UNITY_BROKER_HOST"),
  };
}

function checkPlainEditors({ named, unityMcpFolder }: Settings): Finding {
  const names = named.map((one) => ("project" in one ? one.project : `${one.host}:${one.port}`));
  if (unityMcpFolder !== undefined) names.push(`the Editors in ${unityMcpFolder}`);
  if (names.length === 0) return ok("plain Editors", "none");
  return {
    check: "plain Editors",
    state: "warning",
    says: `${names.join(", ")}: a bridge that proves nothing, and serves every user of its machine`,
    next: "Use the project's own bridge in these Editors, then:",
    fix: unset(named.length > 0 ? "UNITY_BROKER_EDITORS" : "UNITY_BROKER_UNITY_MCP"),
  };
}

async function checkGrants({ tokensFile }: Settings): Promise<Finding[]> {
  const check = "tokens";
  try {
    const entries = await createTokens(tokensFile).list();
    const endless = entries
      .filter(({ tokens }) => tokens.some(({ expiresAt }) => expiresAt === undefined))
      .map(({ name }) => name);
    const admins = entries
      .filter(({ role, tokens }) => role === "admin" && tokens.length > 0)
      .map(({ name }) => name);
    const findings: Finding[] = [];
    if (endless.length > 0) {
      findings.push({
        check,
        state: "warning",
        says: `without an end: ${endless.join(", ")}`,
        next: "Make each a token that ends (`token add <name> --expires 90d`), then revoke the old one.",
      });
    }
    if (admins.length > 0) {
      findings.push({
        check,
        state: "warning",
        says: `with the role admin, which reads everybody's calls: ${admins.join(", ")}`,
        next: "Give less to a principal that need not read the audit log: `token set <name> --role operate`.",
      });
    }
    return findings.length > 0
      ? findings
      : [ok(check, `${entries.length} principals, each token with an end`)];
  } catch (error) {
    return [{ check, state: "problem", says: (error as Error).message, fix: remove(tokensFile) }];
  }
}

function checkAudit({ config: { UNITY_BROKER_AUDIT_DAYS: days }, dataDir }: Settings): Finding {
  if (days > 0) return ok("audit log", `${join(dataDir, "audit")}, ${days} days`);
  return {
    check: "audit log",
    state: "warning",
    says: "is off: nobody will know who called what",
    fix: unset("UNITY_BROKER_AUDIT_DAYS"),
  };
}
