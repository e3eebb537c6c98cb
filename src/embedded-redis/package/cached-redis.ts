/** The redis-server of the distribution's package, unpacked in this user's cache: obtained, trusted, renewed. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../directories.js";
import { runCommand } from "../run-command.js";
import { type DebianPackages, debianRelease } from "./debian-package.js";
import { checkedAt, packagesIn, seal, setChecked, whyNotTrusted } from "./package-seal.js";
import { obtainPackageTree } from "./package-tree.js";

const DAY = 86_400_000;
/** How often to look for a newer package. */
const CHECK_MS = 7 * DAY;
/** The same after a failed look, mostly because there was no network. */
const RETRY_MS = DAY;

/** `otherwise`: what redis-server needs besides a bare Debian or Ubuntu. */
const DEBIAN_PACKAGES: DebianPackages = {
  wanted: ["redis-server", "redis-tools"],
  otherwise: [
    "redis-server",
    "redis-tools",
    "libjemalloc2",
    "liblua5.1-0",
    "liblzf1",
    "lua-cjson",
    "lua-bitop",
    "libatomic1",
  ],
};

export function cachedTree(cacheDir: string): string {
  return join(cacheDir, "redis", debianRelease());
}

/** Why the programs in this tree must not be run; undefined if they may. */
export function whyNotCached(tree: string): string | undefined {
  return whyNotTrusted(tree, [dirname(dirname(tree)), dirname(tree)]);
}

/** Why it could not be obtained. `whyNotRun` tries the unpacked program. */
export async function obtainCached(
  tree: string,
  env: Environment,
  whyNotRun: (tree: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  mkdirSync(dirname(tree), { recursive: true, mode: 0o700 });
  return obtainPackageTree(tree, DEBIAN_PACKAGES, {
    env,
    seal,
    whyNot: async (unpacked) => whyNotCached(unpacked) ?? (await whyNotRun(unpacked)),
  });
}

/** Is it time to look for a newer package? Answers true to one process per period. */
export function claimRenewal(tree: string, now: number): boolean {
  const last = checkedAt(tree);
  if (last === undefined || now - last < CHECK_MS) return false;
  try {
    setChecked(tree, now);
    return true;
  } catch {
    // The file system is read-only.
    return false;
  }
}

/** Replaces the tree if the distribution has a newer package. A running server keeps its own. */
export async function renewCached(
  tree: string,
  env: Environment,
  whyNotRun: (tree: string) => Promise<string | undefined>,
  now: number,
): Promise<void> {
  const why = await obtainPackageTree(tree, DEBIAN_PACKAGES, {
    env,
    seal,
    whyNot: async (unpacked) => whyNotCached(unpacked) ?? (await whyNotRun(unpacked)),
    replaces: async (fresh) => isNewer(packagesIn(fresh).map(nameOf), packagesIn(tree).map(nameOf), env),
  });
  setChecked(tree, why === undefined ? now : now - CHECK_MS + RETRY_MS);
}

const nameOf = ({ name }: { name: string }): string => name;

/** By the version in the name of redis-server's package file; libraries follow it. */
async function isNewer(fresh: string[], present: string[], env: Environment): Promise<boolean> {
  const [to, from] = [versionIn(fresh), versionIn(present)];
  if (to === undefined || from === undefined) return to !== from;
  const compared = await runCommand("dpkg", ["--compare-versions", to, "gt", from], {
    env,
    timeoutMs: 10_000,
  });
  return compared.code === 0;
}

function versionIn(names: string[]): string | undefined {
  const found = names.map((name) => /^redis-server_(.+?)_[^_]*\.deb$/.exec(name)?.[1]).find(Boolean);
  return found === undefined ? undefined : decodeURIComponent(found);
}
