/** A copy of the project with rules taken out: applied to the sources, of which its command line is built. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const PROJECT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/[\\/]$/, "");
const PATCHES = fileURLToPath(new URL("patches", import.meta.url));

const COPIED = [
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "vitest.config.ts",
  "dist",
  "src",
  "test",
];

/** Where each patch file is, by its name: the folders below only group them. */
const PLACES = new Map(
  readdirSync(PATCHES, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".patch"))
    .map((path) => [basename(path), join(PATCHES, path)]),
);

function placeOf(patch: string): string {
  const place = PLACES.get(patch);
  if (place === undefined) throw new Error(`There is no patch ${patch} in ${PATCHES}`);
  return place;
}

/** Every patch file, by name. */
export function patchFiles(): string[] {
  return [...PLACES.keys()].sort();
}

/** What a patch says of itself before its first difference. */
export function wordsOf(patch: string): string {
  const [words = ""] = readFileSync(placeOf(patch), "utf8").split(/^diff --git /m);
  return words.trim();
}

/** Throws with what `git apply` says when a patch fits no longer. `check`: changes nothing. */
export function applyPatch(patch: string, folder: string, { check = false } = {}): void {
  const { status, stderr } = spawnSync(
    "git",
    ["apply", ...(check ? ["--check"] : []), placeOf(patch)],
    // A folder inside another repository would be taken for a part of it, and the patch silently for nothing.
    { cwd: folder, encoding: "utf8", env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) } },
  );
  if (status === 0) return;
  throw new Error(
    `${patch} does not apply any more: what it takes out was changed. Make it anew (docs/proofs/mutations.md).\n${stderr}`,
  );
}

export interface Copy {
  readonly folder: string;
  remove(): void;
}

/** Needs the project to be built. Throws when a patch does not apply. */
export function makeCopy(patches: readonly string[]): Copy {
  const folder = mkdtempSync(join(tmpdir(), "ujb-mutation-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (const name of COPIED) {
      if (!existsSync(join(PROJECT, name))) throw new Error(`${name} is missing: npm run build`);
      cpSync(join(PROJECT, name), join(folder, name), { recursive: true, preserveTimestamps: true });
    }
    symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
    for (const patch of patches) applyPatch(patch, folder);
    if (patches.length > 0) build(folder);
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The command line's bundle, which the processes of a schedule are; types are not looked at: a patch need not be correct in them. */
function build(folder: string): void {
  const { status, stderr } = spawnSync("npm", ["run", "--silent", "build:cli"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the copy is not built: ${stderr}`);
}
