/** Debian's Mono, the runtime nearest to Unity's own, for the C# tests of the package. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../../src/embedded-redis/directories.js";
import { libraryDirectories, withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { findDebianProgram } from "./debian-program.js";

export interface Mono {
  file: string;
  env: Environment;
}

export function findMono(env: Environment = process.env): Promise<Mono | { missing: string }> {
  return findDebianProgram<Mono>(
    {
      name: "mono",
      names: ["mono"],
      // The facades, netstandard.dll among them, are in no smaller package.
      packages: ["mono-devel"],
      installed: (file) => ({ file, env }),
      unpacked(tree) {
        const file = join(tree, "usr", "bin", "mono-sgen");
        if (!existsSync(file)) return { file, env };
        return {
          file,
          env: {
            ...withLibraries(env, libraryDirectories(tree)),
            MONO_CFG_DIR: join(tree, "etc"),
            MONO_PATH: ["4.5", "4.5/Facades"].map((folder) => join(tree, "usr", "lib", "mono", folder)).join(":"),
            MONO_GAC_PREFIX: join(tree, "usr"),
          },
        };
      },
      whyNot,
    },
    env,
  );
}

/** Undefined: its libraries are there, and so are the assemblies that netstandard2.1 and .NET Framework 4.7.2 share. */
async function whyNot({ file, env }: Mono): Promise<string | undefined> {
  if (!existsSync(file)) return "not there";
  const { code, output } = await runCommand(file, ["--version"], { env, timeoutMs: 30_000 });
  return code === 0 ? undefined : output.slice(-300) || `exit code ${code}`;
}
