/** Prometheus's own checker of metrics and rules. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../../src/embedded-redis/directories.js";
import { libraryDirectories, withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { findDebianProgram } from "./debian-program.js";

export interface Promtool {
  file: string;
  env: Environment;
}

export function findPromtool(env: Environment = process.env): Promise<Promtool | { missing: string }> {
  return findDebianProgram<Promtool>(
    {
      name: "promtool",
      names: ["promtool"],
      packages: ["prometheus"],
      installed: (file) => ({ file, env }),
      unpacked(tree) {
        const file = join(tree, "usr", "bin", "promtool");
        return { file, env: existsSync(file) ? withLibraries(env, libraryDirectories(tree)) : env };
      },
      whyNot,
    },
    env,
  );
}

async function whyNot({ file, env }: Promtool): Promise<string | undefined> {
  if (!existsSync(file)) return "not there";
  const { code, output } = await runCommand(file, ["--version"], { env, timeoutMs: 30_000 });
  return code === 0 ? undefined : output.slice(-300) || `exit code ${code}`;
}
