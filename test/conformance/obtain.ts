/** The suite, and a Node that can run it, from the npm registry into the cache: nothing of the repository depends on them. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultDirectories } from "../../src/embedded-redis/directories.js";
import { runCommand } from "../../src/embedded-redis/run-command.js";
import { NODE_OF_SUITES } from "./suites.js";

const INSTALL_LIMIT_MS = 300_000;

export interface ObtainedSuite {
  /** The program that runs it, and its file. */
  node: string;
  file: string;
  /** What it says that a revision requires. */
  requirements: string;
}

/** Rejects with what npm said if the registry does not answer and the cache has none. */
export async function obtainSuite(version: string): Promise<ObtainedSuite> {
  const system = process.platform === "win32" ? "win" : process.platform;
  const nodePackage = `node-${system}-${process.arch}`;
  const node = await installed(nodePackage, NODE_OF_SUITES);
  const suite = await installed("@modelcontextprotocol/conformance", version);
  return {
    node: join(node, "bin", process.platform === "win32" ? "node.exe" : "node"),
    file: join(suite, "dist", "index.js"),
    requirements: join(suite, "requirements"),
  };
}

/** Its folder. The version is exact; a folder that is there is whole. */
async function installed(name: string, version: string): Promise<string> {
  const root = join(defaultDirectories(process.env).cacheDir, "conformance");
  const folder = join(root, `${name.replaceAll("/", "+")}-${version}`);
  const itself = join(folder, "node_modules", name);
  if (existsSync(itself)) return itself;
  mkdirSync(root, { recursive: true });
  const scratch = mkdtempSync(`${folder}-`);
  try {
    writeFileSync(join(scratch, "package.json"), JSON.stringify({ private: true }));
    console.log(`Installing ${name}@${version} into ${folder}.`);
    const args = ["install", "--prefix", scratch, "--ignore-scripts", "--no-audit", "--no-fund"];
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
