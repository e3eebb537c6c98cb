/** The distribution's programs in a folder of our own: several processes may fetch them at once, and none sees half of them. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { identify } from "../../shared/machine/living-process.js";
import type { Environment } from "../directories.js";
import { type DebianPackages, unpackDebianPackages } from "./debian-package.js";
import type { Package } from "./package-seal.js";

/** Prefix of directories that belong to the process whose id follows, as long as it is alive. */
const SCRATCH = ".obtaining-";

export interface ObtainOptions {
  readonly env: Environment;
  /** Tries the unpacked program: undefined if it can be used. */
  whyNot(tree: string): Promise<string | undefined>;
  /** Called once everything is unpacked, before any of it runs. */
  seal?(tree: string, packages: readonly Package[]): void;
  /** May this tree replace a working one? Otherwise the working one stays. */
  replaces?(fresh: string): Promise<boolean>;
}

/** Unpacks the packages beside the final place and renames them to `tree`; answers why that failed. */
export async function obtainPackageTree(
  tree: string,
  packages: DebianPackages,
  options: ObtainOptions,
): Promise<string | undefined> {
  let scratch: string | undefined;
  try {
    const parent = dirname(tree);
    mkdirSync(parent, { recursive: true });
    clearAbandoned(parent);
    scratch = mkdtempSync(join(parent, `${SCRATCH}${process.pid}-`));
    const fresh = join(scratch, "tree");
    const workDir = join(scratch, "apt");
    const unpacked = await unpackDebianPackages(fresh, packages, { workDir, env: options.env });
    options.seal?.(fresh, unpacked);
    const why = await options.whyNot(fresh);
    if (why !== undefined) return why;
    // Another process may have been faster, and may be running its program: a working tree stays.
    const isPresent = (await options.whyNot(tree)) === undefined;
    if (isPresent && !(await options.replaces?.(fresh))) return undefined;
    try {
      if (existsSync(tree)) renameSync(tree, join(scratch, "replaced"));
      renameSync(fresh, tree);
    } catch (error) {
      // Another process was faster between our look and our rename: its tree is as good as ours.
      if (!existsSync(tree)) throw error;
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    if (scratch) rmSync(scratch, { recursive: true, force: true });
  }
}

/** The directories of a tree that hold shared libraries. */
export function libraryDirectories(tree: string): string[] {
  const found = new Set<string>();
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    if (/\.so(\.|$)/.test(entry.name)) found.add(entry.parentPath);
  }
  return [...found].sort();
}

/** The environment of a binary: its unpacked libraries come before the system's own. */
export function withLibraries(env: Environment, libraryPath: readonly string[]): Environment {
  if (libraryPath.length === 0) return env;
  const before = env.LD_LIBRARY_PATH;
  return { ...env, LD_LIBRARY_PATH: [...libraryPath, ...(before ? [before] : [])].join(":") };
}

/** Deletes the leftovers of processes that were killed while fetching. */
function clearAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(SCRATCH) || identify(Number.parseInt(name.slice(SCRATCH.length), 10))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}
