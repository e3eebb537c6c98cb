/** A program that tests need: one that is installed, else the distribution's own, unpacked into the cache. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { defaultDirectories, type Environment } from "../../../src/embedded-redis/directories.js";
import { debianRelease } from "../../../src/embedded-redis/package/debian-package.js";
import { obtainPackageTree } from "../../../src/embedded-redis/package/package-tree.js";
import { findProgram, searchDirectories } from "../../../src/embedded-redis/run-command.js";
import { alone } from "../../../src/shared/machine/start-claim.js";

/** Of one program, with everything that it needs. */
const OBTAIN_LIMIT_MS = 10 * 60_000;

export interface DebianProgram<Found> {
  /** For messages, and for its folder in the cache. */
  name: string;
  /** What it is called on PATH; or the file that a variable names, which must run then. */
  names: readonly string[] | { file: string; variable: string };
  packages: readonly string[];
  installed(file: string): Found;
  unpacked(tree: string): Found;
  /** Tries it; undefined if it can be used. */
  whyNot(found: Found): Promise<string | undefined>;
}

/**
 * `missing` says why there is none: no apt, no network, no such package. One process of a run fetches, and the others wait for what it
 * finds. Rejects where nothing may be left out: the variable names what does not run, or it cannot be had on CI.
 */
export async function findDebianProgram<Found>(
  { name, names, packages, installed, unpacked, whyNot }: DebianProgram<Found>,
  env: Environment,
): Promise<Found | { missing: string }> {
  const directories = searchDirectories(env, process.platform);
  const files = "file" in names ? [names.file] : names.map((each) => findProgram([each], directories));
  for (const file of files) {
    if (file === undefined) continue;
    const found = installed(file);
    const why = await whyNot(found);
    if (why === undefined) return found;
    if ("file" in names) throw new Error(`${names.variable}=${file}: ${why}`);
  }
  if (!findProgram(["apt-get"], directories) || !findProgram(["dpkg"], directories))
    return { missing: `no ${name} on PATH, and no apt to obtain one` };
  const tree = join(defaultDirectories(env).cacheDir, name, debianRelease());
  // Among the run's temporary files, with which it goes. Outside a run of the tests they stay.
  const note = process.env.VITEST && join(tmpdir(), `missing-${name}`);
  const known = async (): Promise<Found | { missing: string } | undefined> => {
    if ((await whyNot(unpacked(tree))) === undefined) return unpacked(tree);
    return note && existsSync(note) ? { missing: readFileSync(note, "utf8") } : undefined;
  };
  const obtain = async (): Promise<Found | { missing: string }> => {
    const before = await known();
    if (before) return before;
    console.log(`No ${name} on this machine: fetching the signed package into ${tree} (installs nothing).`);
    const wanted = { wanted: [...packages] };
    const why = await obtainPackageTree(tree, wanted, { env, whyNot: (at) => whyNot(unpacked(at)) });
    if (why === undefined) return unpacked(tree);
    const missing = `${name} could not be obtained: ${why}`;
    if (process.env.CI) throw new Error(missing);
    if (note) writeFileSync(note, missing);
    return { missing };
  };
  mkdirSync(dirname(tree), { recursive: true });
  const tooLong = (pid: string): Error => new Error(`Process ${pid} has been fetching ${name} for too long.`);
  return (
    (await known()) ?? alone(dirname(tree), { timeoutMs: OBTAIN_LIMIT_MS, meanwhile: known, tooLong }, obtain)
  );
}
