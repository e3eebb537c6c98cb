/** A Valkey for the tests of what else may be the store. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../../src/embedded-redis/directories.js";
import { libraryDirectories, withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { findDebianProgram } from "./debian-program.js";

export interface Valkey {
  file: string;
  env: Environment;
}

/** On PATH, in the cache, or Debian's package; `missing` also where the distribution has none. */
export async function findValkey(env: Environment = process.env): Promise<Valkey | { missing: string }> {
  const sources = withBackports();
  try {
    return await findDebianProgram<Valkey>(
      {
        name: "valkey",
        names: ["valkey-server"],
        packages: ["valkey-server"],
        installed: (file) => ({ file, env }),
        unpacked(tree) {
          const file = join(tree, "usr", "bin", "valkey-server");
          return { file, env: existsSync(file) ? withLibraries(env, libraryDirectories(tree)) : env };
        },
        whyNot,
      },
      { ...env, ...sources.env },
    );
  } catch (error) {
    return { missing: (error as Error).message };
  } finally {
    sources.remove();
  }
}

/** A folder to put before PATH, in which a program of this name starts it. */
export function pathOfValkey({ file, env }: Valkey, folder: string): string {
  const directory = join(folder, "bin");
  mkdirSync(directory);
  const script = join(directory, "valkey-server");
  const libraries = env.LD_LIBRARY_PATH === undefined ? "" : `LD_LIBRARY_PATH='${env.LD_LIBRARY_PATH}' `;
  writeFileSync(script, `#!/bin/sh\n${libraries}exec '${file}' "$@"\n`);
  chmodSync(script, 0o755);
  return directory;
}

async function whyNot({ file, env }: Valkey): Promise<string | undefined> {
  if (!existsSync(file)) return "not there";
  const { code, output } = await runCommand(file, ["--version"], { env, timeoutMs: 30_000 });
  return code === 0 ? undefined : output.slice(-300) || `exit code ${code}`;
}

/** Debian 12 has it in its backports only, which are signed by the same keys; later releases have it themselves. */
function withBackports(): { env: Environment; remove(): void } {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  if (!release.includes("VERSION_CODENAME=bookworm")) return { env: {}, remove: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), "ujb-sources-"));
  const own = "/etc/apt/sources.list";
  const lines = existsSync(own) ? readFileSync(own, "utf8") : "";
  const key = "/usr/share/keyrings/debian-archive-keyring.gpg";
  const backports = `deb [signed-by=${key}] http://deb.debian.org/debian bookworm-backports main`;
  writeFileSync(join(folder, "sources.list"), `${lines}\n${backports}\n`);
  const configuration = join(folder, "apt.conf");
  writeFileSync(configuration, `Dir::Etc::sourcelist "${join(folder, "sources.list")}";\n`);
  return {
    env: { APT_CONFIG: configuration },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
