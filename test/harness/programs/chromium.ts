/** A Chromium for the tests of pages. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../../src/embedded-redis/directories.js";
import { libraryDirectories, withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { findDebianProgram } from "./debian-program.js";

/** What playwright-core's `launch` needs. */
export interface Chromium {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
}

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge"];
const VARIABLE = "UNITY_BROKER_TEST_CHROMIUM";

/** Tries UNITY_BROKER_TEST_CHROMIUM, PATH, the cache, then the distribution's packages (100 MB, a minute); as findDebianProgram. */
export function findChromium(env: Environment = process.env): Promise<Chromium | { missing: string }> {
  const file = env[VARIABLE];
  return findDebianProgram<Chromium>(
    {
      name: "chromium",
      names: file ? { file, variable: VARIABLE } : PROGRAMS,
      // Chromium draws no letter without a font.
      packages: ["chromium", "fontconfig-config", "fonts-dejavu-core"],
      installed: (at) => describe(at, env),
      unpacked: (tree) => chromiumIn(tree, env),
      whyNot,
    },
    env,
  );
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
