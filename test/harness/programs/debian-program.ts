/** A program that tests need: one that is installed, else the distribution's own, unpacked into the cache. */
import { join } from "node:path";
import { defaultDirectories, type Environment } from "../../../src/embedded-redis/directories.js";
import { debianRelease } from "../../../src/embedded-redis/package/debian-package.js";
import { obtainPackageTree } from "../../../src/embedded-redis/package/package-tree.js";
import { findProgram, searchDirectories } from "../../../src/embedded-redis/run-command.js";

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
 * `missing` says why there is none, for a system without apt or without a network. Rejects where it should have been possible: the
 * variable names what does not run, or Debian's packages could not be fetched.
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
  if ((await whyNot(unpacked(tree))) === undefined) return unpacked(tree);
  console.log(`No ${name} on this machine: fetching the signed package into ${tree} (installs nothing).`);
  const why = await obtainPackageTree(
    tree,
    { wanted: [...packages] },
    { env, whyNot: (at) => whyNot(unpacked(at)) },
  );
  if (why !== undefined) throw new Error(`${name} could not be obtained: ${why}`);
  return unpacked(tree);
}
