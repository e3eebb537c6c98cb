/** The package installed in a folder of its own, as a user has it, without a network. */
import { spawn } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { productionPackages } from "../../../packaging/production-packages.js";

export const CHECKOUT = resolve(import.meta.dirname, "../../..");

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `npm` and `npx` are scripts on Windows, which only a shell starts. */
export function run(file: string, args: string[], cwd: string): Promise<Ran> {
  const child = spawn(file, args, { cwd, shell: process.platform === "win32" });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done({ code, ...said }));
  });
}

/** With its cache in `scratch`. Rejects if npm fails. */
export async function npm(args: string[], cwd: string, scratch: string): Promise<string> {
  // A cache of its own, and empty: nothing may come from the network, nor from what this machine has seen before.
  const cache = ["--offline", "--no-audit", "--no-fund", "--cache", join(scratch, "cache")];
  const { code, stdout, stderr } = await run("npm", [...args, ...cache], cwd);
  if (code !== 0) throw new Error(`npm ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/**
 * Has npm install the tarball in a folder that holds, of this checkout's node_modules, what the lock file names for
 * production: npm finds every dependency of the tarball satisfied, or fails for want of a network.
 */
export async function install(tarball: string, scratch: string): Promise<string> {
  const folder = join(scratch, "empty");
  await mkdir(join(folder, "node_modules"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const copyOptions = { recursive: true, verbatimSymlinks: true } as const;
  for (const { path } of productionPackages(CHECKOUT))
    cpSync(join(CHECKOUT, path), join(folder, path), copyOptions);
  // Without their commands npm would take them for broken, and fetch them.
  cpSync(join(CHECKOUT, "node_modules", ".bin"), join(folder, "node_modules", ".bin"), copyOptions);
  await npm(["install", "--ignore-scripts", tarball], folder, scratch);
  return folder;
}
