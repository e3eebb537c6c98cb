/** An HAProxy for the tests of what stands before several gateways. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../../src/embedded-redis/directories.js";
import { libraryDirectories, withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { findDebianProgram } from "./debian-program.js";

export interface HaProxy {
  file: string;
  env: Environment;
}

export function findHaProxy(env: Environment = process.env): Promise<HaProxy | { missing: string }> {
  return findDebianProgram<HaProxy>(
    {
      name: "haproxy",
      names: ["haproxy"],
      packages: ["haproxy"],
      installed: (file) => ({ file, env }),
      unpacked(tree) {
        const file = join(tree, "usr", "sbin", "haproxy");
        return { file, env: existsSync(file) ? withLibraries(env, libraryDirectories(tree)) : env };
      },
      whyNot,
    },
    env,
  );
}

/** Undefined: all its libraries are there. */
async function whyNot({ file, env }: HaProxy): Promise<string | undefined> {
  if (!existsSync(file)) return "not there";
  const { code, output } = await runCommand(file, ["-v"], { env, timeoutMs: 30_000 });
  return code === 0 ? undefined : output.slice(-300) || `exit code ${code}`;
}
