/** A package of the npm registry that tests run and nothing of the repository depends on, installed into the cache. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { runCommand } from "../../../src/embedded-redis/run-command.js";

const INSTALL_LIMIT_MS = 300_000;

/** A Node for programs that do not start under the oldest one that the broker supports. */
const NEWER_NODE = "24.21.0";

/** Its executable. */
export async function newerNode(): Promise<string> {
  const system = process.platform === "win32" ? "win" : process.platform;
  const folder = await npmPackage(`node-${system}-${process.arch}`, NEWER_NODE);
  return join(folder, "bin", process.platform === "win32" ? "node.exe" : "node");
}

/** The package's folder. The version is exact; a folder that is there is whole. Rejects with what npm said. */
export async function npmPackage(name: string, version: string): Promise<string> {
  const root = join(defaultDirectories(process.env).cacheDir, "npm");
  const folder = join(root, `${name.replaceAll("/", "+")}-${version}`);
  const itself = join(folder, "node_modules", name);
  if (existsSync(itself)) return itself;
  mkdirSync(root, { recursive: true });
  const scratch = mkdtempSync(`${folder}-`);
  try {
    writeFileSync(join(scratch, "package.json"), JSON.stringify({ private: true }));
    console.log(`Installing ${name}@${version} into ${folder}.`);
    const quick = ["--prefer-offline", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=3000"];
    const args = ["install", "--prefix", scratch, "--ignore-scripts", "--no-audit", "--no-fund", ...quick];
    const { code, output } = await runCommand("npm", [...args, "--save-exact", `${name}@${version}`], {
      env: process.env,
      timeoutMs: INSTALL_LIMIT_MS,
      cwd: scratch,
    });
    if (code !== 0)
      throw new Error(`npm could not install ${name}@${version} (exit code ${code}): ${output}`);
    // Somebody else's installation may have come first: it is as good.
    if (!existsSync(itself)) renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return itself;
}
