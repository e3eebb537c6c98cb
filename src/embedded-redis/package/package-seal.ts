/**
 * The seal of an unpacked package: the packages that it came from, and the hash of everything in it that is run.
 *
 * It is in the tree itself, so that one rename moves both. Its time is that of the last look for a newer
 * package.
 */
import { createHash } from "node:crypto";
import {
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { z } from "zod";

/** A package file by its name, which contains its version, and its hash, which the distribution has signed. */
const Package = z.object({ name: z.string(), sha256: z.string() });
export type Package = z.infer<typeof Package>;

const Seal = z.object({
  packages: z.array(Package),
  /** Path in the tree → SHA-256. */
  files: z.record(z.string(), z.string()),
});
type Seal = z.infer<typeof Seal>;

const NAME = "packages.json";

export const hashOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Writes the seal of the tree's present files, for packages that were just unpacked. */
export function seal(tree: string, packages: readonly Package[]): void {
  write(tree, { packages: [...packages], files: hashes(tree) });
}

/**
 * Why programs of this tree must not be run; undefined if they may.
 *
 * The folders above count too: their owners can put another tree in its place.
 */
export function whyNotTrusted(tree: string, above: readonly string[]): string | undefined {
  try {
    for (const path of [...above, tree]) {
      const problem = foreign(path);
      if (problem !== undefined) return problem;
    }
    for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const problem = foreign(path) ?? outside(tree, path);
      if (problem !== undefined) return problem;
    }
    const known = read(tree);
    if (known === undefined) return `${tree} has no record of its packages`;
    const now = hashes(tree);
    const names = new Set([...Object.keys(known.files), ...Object.keys(now)]);
    const changed = [...names].find((name) => known.files[name] !== now[name]);
    return changed === undefined ? undefined : `${join(tree, changed)} differs from its package`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The packages of a tree; empty if they are unknown. */
export function packagesIn(tree: string): readonly Package[] {
  return read(tree)?.packages ?? [];
}

/** The time of the last look for newer packages, ms; undefined if there is no sealed tree. */
export function checkedAt(tree: string): number | undefined {
  return statSync(join(tree, NAME), { throwIfNoEntry: false })?.mtimeMs;
}

export function setChecked(tree: string, at: number): void {
  utimesSync(join(tree, NAME), new Date(), new Date(at));
}

function read(tree: string): Seal | undefined {
  const file = join(tree, NAME);
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  return Seal.parse(JSON.parse(readFileSync(file, "utf8")));
}

function write(tree: string, content: Seal): void {
  writeFileSync(join(tree, NAME), `${JSON.stringify(content, undefined, 1)}\n`, { mode: 0o600 });
}

/** Programs and libraries; nothing reads the rest of a package. */
function hashes(tree: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const isRun = /\.so(\.|$)/.test(entry.name) || dirname(path) === join(tree, "usr", "bin");
    if (isRun) files[relative(tree, path).split(sep).join("/")] = hashOf(path);
  }
  return files;
}

function foreign(path: string): string | undefined {
  const uid = process.getuid?.();
  const found = lstatSync(path);
  if (uid === undefined) return undefined;
  if (found.uid !== uid) return `${path} belongs to user ${found.uid}, not to you (${uid})`;
  const isOpen = !found.isSymbolicLink() && (found.mode & 0o022) !== 0;
  return isOpen ? `${path} can be written by others` : undefined;
}

function outside(tree: string, path: string): string | undefined {
  if (!lstatSync(path).isSymbolicLink()) return undefined;
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  return realpathSync(path).startsWith(`${realpathSync(tree)}${sep}`)
    ? undefined
    : `${path} leads out of ${tree}`;
}
