/** A Chromium for the tests of pages: one that is installed, else the distribution's own, unpacked into the cache. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultDirectories, type Environment } from "../../../src/embedded-redis/directories.js";
import { debianRelease } from "../../../src/embedded-redis/package/debian-package.js";
import {
  libraryDirectories,
  obtainPackageTree,
  withLibraries,
} from "../../../src/embedded-redis/package/package-tree.js";
import { findProgram, runCommand, searchDirectories } from "../../../src/embedded-redis/run-command.js";

/** What playwright-core's `launch` needs. */
export interface Chromium {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
}

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge"];
/** Chromium draws no letter without a font. */
const DEBIAN_PACKAGES = { wanted: ["chromium", "fontconfig-config", "fonts-dejavu-core"] };

/**
 * Tries UNITY_BROKER_TEST_CHROMIUM, PATH, the cache, then the distribution's packages (100 MB, a minute).
 *
 * `missing` says why there is none, for a system without apt or without a network. Rejects where it should have been
 * possible: the variable names what does not run, or Debian's packages could not be fetched.
 */
export async function findChromium(env: Environment = process.env): Promise<Chromium | { missing: string }> {
  const named = env.UNITY_BROKER_TEST_CHROMIUM;
  const directories = searchDirectories(env, process.platform);
  for (const file of named ? [named] : PROGRAMS.map((name) => findProgram([name], directories))) {
    if (file === undefined) continue;
    const found = describe(file, env);
    const why = await whyNot(found);
    if (why === undefined) return found;
    if (named) throw new Error(`UNITY_BROKER_TEST_CHROMIUM=${named}: ${why}`);
  }
  if (!findProgram(["apt-get"], directories) || !findProgram(["dpkg"], directories)) {
    return { missing: "no Chromium on PATH, and no apt to obtain one: set UNITY_BROKER_TEST_CHROMIUM" };
  }
  const tree = join(defaultDirectories(env).cacheDir, "chromium", debianRelease());
  if ((await whyNot(chromiumIn(tree, env))) === undefined) return chromiumIn(tree, env);
  console.log(`No Chromium on this machine: fetching the signed package into ${tree} (installs nothing).`);
  const why = await obtainPackageTree(tree, DEBIAN_PACKAGES, {
    env,
    whyNot: (unpacked) => whyNot(chromiumIn(unpacked, env)),
  });
  if (why !== undefined) throw new Error(`Chromium could not be obtained: ${why}`);
  return chromiumIn(tree, env);
}

/** The program itself: the package's own start script reads files of the system that are not there. */
function chromiumIn(tree: string, env: Environment): Chromium {
  const file = join(tree, "usr", "lib", "chromium", "chromium");
  if (!existsSync(file)) return describe(file, env);
  return describe(file, {
    ...withLibraries(env, libraryDirectories(tree)),
    FONTCONFIG_FILE: writeFontConfiguration(tree),
  });
}

function describe(executablePath: string, env: Environment): Chromium {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  // Chromium refuses to run its sandbox as root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return { executablePath, args, env: Object.fromEntries(set) };
}

/** Tries whether all libraries are there; undefined when they are. */
async function whyNot({ executablePath, args, env }: Chromium): Promise<string | undefined> {
  if (!existsSync(executablePath)) return "not there";
  const result = await runCommand(executablePath, [...args, "--version"], { env, timeoutMs: 30_000 });
  return result.code === 0 ? undefined : result.output.slice(-300) || `exit code ${result.code}`;
}

/** The packages' own configuration names the system's folders. */
function writeFontConfiguration(tree: string): string {
  const folder = join(tree, "fontconfig");
  mkdirSync(join(folder, "cache"), { recursive: true });
  const file = join(folder, "fonts.conf");
  writeFileSync(
    file,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${join(tree, "usr", "share", "fonts")}</dir>
  <cachedir>${join(folder, "cache")}</cachedir>
</fontconfig>
`,
  );
  return file;
}
