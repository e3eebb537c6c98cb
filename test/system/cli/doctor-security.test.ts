/** `doctor --security`: each way in is named, and the command that it prints closes it. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cachedTree } from "../../../src/embedded-redis/package/cached-redis.js";
import { seal } from "../../../src/embedded-redis/package/package-seal.js";
import { played } from "../../harness/long-form.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { MAIN } from "../../harness/processes/processes.js";
import { plantRedis } from "../../harness/redis/redis.js";

const { type, here } = useCommandLine();

interface Finding {
  check: string;
  state: "ok" | "warning" | "problem";
  says: string;
  next?: string;
  fix?: string;
}

const isRoot = process.getuid?.() === 0;
const editors = (): string => join(here().folder, "editors");
const cache = (): string => join(here().folder, "cache");

/** A home as the broker makes it, with a cache of its own. */
async function home(): Promise<Record<string, string>> {
  mkdirSync(editors(), { mode: 0o700 });
  writeFileSync(join(editors(), "shop@1.json"), "{}", { mode: 0o600 });
  await type(["token", "local"]);
  await type(["token", "create", "ann", "--expires", "30d"]);
  return { UNITY_BROKER_CACHE_DIR: cache() };
}

async function examine(env: Record<string, string>): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, stdout, stderr } = await type(["doctor", "--security", "--json"], env);
  expect(stderr).toBe("");
  return { code, findings: JSON.parse(stdout) as Finding[] };
}

/** Runs the fix as a person would, and the doctor after it in the same shell. */
function fixed(fix: string, env: Record<string, string>): Finding[] {
  const script = `${fix} && ${process.execPath} ${MAIN} doctor --security --json`;
  const { stdout } = spawnSync("/bin/sh", ["-c", script], {
    env: { ...here().env, ...env },
    encoding: "utf8",
  });
  return JSON.parse(stdout) as Finding[];
}

const wrong = (findings: readonly Finding[]): Finding[] => findings.filter(({ state }) => state !== "ok");

async function plantCache(): Promise<string> {
  const tree = cachedTree(cache());
  await plantRedis(join(tree, "usr", "bin", "redis-server"));
  seal(tree, []);
  return tree;
}

interface Open {
  check: string;
  state?: "warning" | "problem";
  says: RegExp;
  env?: Record<string, string>;
}

/** Title → opens something; what the doctor says then. Where a fix is printed, it is run. */
const OPEN: Record<string, () => Promise<Open> | Open> = {
  "a data folder that others can enter"() {
    chmodSync(here().dataDir, 0o755);
    return { check: "data folder", says: /can be opened by other users/ };
  },
  "a token that others can read"() {
    chmodSync(join(here().dataDir, "local.token"), 0o644);
    return { check: "secrets", says: /local\.token can be opened by other users/ };
  },
  "a key that others can read"() {
    writeFileSync(join(here().dataDir, "some.key"), "", { mode: 0o644 });
    return { check: "secrets", says: /some\.key can be opened/ };
  },
  "an Editors folder that others can enter"() {
    chmodSync(editors(), 0o711);
    return { check: "Editors folder", says: /can be opened by other users/ };
  },
  "an Editor's token that others can read"() {
    chmodSync(join(editors(), "shop@1.json"), 0o640);
    return { check: "Editors' tokens", says: /shop@1\.json can be opened/ };
  },
  "another user's endpoint file (needs root)"() {
    const file = join(editors(), "evil@1.json");
    writeFileSync(file, "{}", { mode: 0o600 });
    chownSync(file, 65534, 65534);
    return { check: "Editors' tokens", says: /evil@1\.json belongs to user 65534, not to you/ };
  },
  "a runtime folder that others can enter"() {
    const folder = join(here().folder, "runtime");
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    return {
      check: "run directory",
      state: "warning",
      says: /XDG_RUNTIME_DIR is not used/,
      env: { XDG_RUNTIME_DIR: folder },
    };
  },
  async "a cached Redis that was changed"() {
    const tree = await plantCache();
    writeFileSync(join(tree, "usr", "bin", "redis-cli"), "");
    return { check: "cached Redis", says: /redis-cli differs from its package/ };
  },
  "a gateway that other machines reach"() {
    return {
      check: "gateway",
      state: "warning",
      says: /listens on 0\.0\.0\.0/,
      env: { UNITY_BROKER_HOST: "0.0.0.0" },
    };
  },
  "a plain Editor"() {
    return {
      check: "plain Editors",
      state: "warning",
      says: /127\.0\.0\.1:8700/,
      env: { UNITY_BROKER_EDITORS: "old=127.0.0.1:8700" },
    };
  },
  "Editors with MCP for Unity"() {
    const env = { UNITY_BROKER_UNITY_MCP: "true", UNITY_MCP_STATUS_DIR: "/status" };
    return { check: "plain Editors", state: "warning", says: /the Editors in \/status/, env };
  },
  async "a token without an end"() {
    await type(["token", "create", "bob"]);
    return { check: "tokens", state: "warning", says: /without an end: bob$/ };
  },
  async "an admin"() {
    await type(["token", "create", "root", "--role", "admin", "--expires", "1d"]);
    return { check: "tokens", state: "warning", says: /with the role admin.*: root$/ };
  },
  "no audit log"() {
    return { check: "audit log", state: "warning", says: /is off/, env: { UNITY_BROKER_AUDIT_DAYS: "0" } };
  },
  "a Redis without a password"() {
    return {
      check: "Redis",
      state: "warning",
      says: /redis:\/\/127\.0\.0\.1:6379 asks for no password/,
      env: { REDIS_URL: "redis://127.0.0.1:6379" },
    };
  },
  "a Redis over the network in the clear"() {
    return {
      check: "Redis",
      state: "warning",
      says: /without TLS/,
      env: { REDIS_URL: "redis://:planted@10.0.0.5:6379" },
    };
  },
  "a password in a variable"() {
    return {
      check: "Redis",
      state: "warning",
      says: /stands in the variable REDIS_URL/,
      env: { REDIS_URL: "rediss://:planted@10.0.0.5:6379" },
    };
  },
};

/** Of each kind one: a folder, a file, somebody else's, a process's. */
const TELLING = [
  "a data folder that others can enter",
  "an Editor's token that others can read",
  "another user's endpoint file (needs root)",
  "a cached Redis that was changed",
  "a plain Editor",
  "an admin",
  "a Redis over the network in the clear",
];

describe.skipIf(process.platform === "win32")("doctor --security", () => {
  test("a home as the broker makes it is well", async () => {
    const env = await home();
    await plantCache();
    const { code, findings } = await examine(env);
    expect(wrong(findings)).toEqual([]);
    expect(code).toBe(0);
    const password = join(here().folder, "password");
    writeFileSync(password, "planted\n", { mode: 0o600 });
    const own = { REDIS_URL: "rediss://10.0.0.5:6379", REDIS_PASSWORD_FILE: password };
    const withRedis = await examine({ ...env, ...own });
    expect(wrong(withRedis.findings)).toEqual([]);
    expect(JSON.stringify(withRedis.findings)).not.toContain("planted");
  });

  for (const [title, open] of played(OPEN, TELLING)) {
    test.skipIf(!isRoot && title.includes("root"))(title, async () => {
      const env = await home();
      const { check, state = "problem", says, env: more = {} } = await open();
      const { code, findings } = await examine({ ...env, ...more });
      expect(wrong(findings)).toMatchObject([{ check, state, says: expect.stringMatching(says) }]);
      expect(code).toBe(state === "problem" ? 1 : 0);
      expect(JSON.stringify(findings)).not.toContain("planted");
      const [{ fix, next } = {}] = wrong(findings);
      if (fix === undefined) expect(next).toBeDefined();
      else expect(wrong(fixed(fix, { ...env, ...more }))).toEqual([]);
    });
  }

  test("a password file that is not there is a fault of the configuration", async () => {
    const env = { REDIS_URL: "redis://127.0.0.1:6379", REDIS_PASSWORD_FILE: join(here().folder, "none") };
    const { code, findings } = await examine(env);
    expect(code).toBe(1);
    expect(findings).toMatchObject([
      { check: "configuration", says: expect.stringMatching(/REDIS_PASSWORD_FILE/) },
    ]);
  });
});
