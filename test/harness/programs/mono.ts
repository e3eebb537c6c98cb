/** Debian's Mono, the runtime nearest to Unity's own, for the C# tests of the package. */
import { chmodSync, cpSync, existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../../src/embedded-redis/directories.js";
import { libraryDirectories, withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { findDebianProgram } from "./debian-program.js";

export interface Mono {
  file: string;
  env: Environment;
  /** Where it is unpacked; undefined: it is installed. */
  tree?: string;
}

/** Its reason if there is none; never rejects. */
export function findMono(env: Environment = process.env): Promise<Mono | { missing: string }> {
  return findDebianProgram<Mono>(
    {
      name: "mono",
      names: ["mono"],
      // The facades, netstandard.dll among them, are in no smaller package.
      packages: ["mono-devel"],
      installed: (file) => ({ file, env }),
      unpacked: (tree) => monoIn(tree, env),
      whyNot,
    },
    env,
  ).catch((error: Error) => ({ missing: error.message }));
}

/**
 * A copy that other users of this machine can run, since the cache is for its own user alone. The caller removes the
 * folder.
 */
export function copyForEverybody(tree: string, env: Environment): { mono: Mono; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "mono-"));
  chmodSync(folder, 0o755);
  for (const part of ["etc", "usr/bin/mono-sgen", "usr/lib"]) {
    cpSync(join(tree, part), join(folder, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/\/mono\/([0-9.]+-api|xbuild.*)$/.test(path),
    });
  }
  return { mono: monoIn(folder, env), folder };
}

function monoIn(tree: string, env: Environment): Mono {
  const file = join(tree, "usr", "bin", "mono-sgen");
  if (!existsSync(file)) return { file, env, tree };
  const assemblies = join(tree, "usr", "lib", "mono", "4.5");
  return {
    file,
    env: {
      ...withLibraries(env, libraryDirectories(tree)),
      MONO_CFG_DIR: join(tree, "etc"),
      MONO_PATH: `${assemblies}:${join(assemblies, "Facades")}`,
      MONO_GAC_PREFIX: join(tree, "usr"),
    },
    tree,
  };
}

/** Undefined: it and its libraries are there. */
async function whyNot({ file, env }: Mono): Promise<string | undefined> {
  if (!existsSync(file)) return "not there";
  const { code, output } = await runCommand(file, ["--version"], { env, timeoutMs: 30_000 });
  return code === 0 ? undefined : output.slice(-300) || `exit code ${code}`;
}
