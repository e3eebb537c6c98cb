/** The budget of each room, in lines and files: a ceiling, which is lowered when something goes, and never raised by writing denser. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));

interface Size {
  lines: number;
  files: number;
}

/** Sizes by room; a room without those that lie inside it. `folders`: that hold a file of src. */
interface Budgets {
  src: Size & { folders: number };
  rooms: Record<string, Size>;
}

const budgets = JSON.parse(readFileSync(`${PROJECT}test/budgets.json`, "utf8")) as Budgets;

/** What people write: neither data nor pictures, nor what a build makes. */
const CODE = /^(?!.*\/(?:bin|obj|node_modules)\/).*\.(?:ts|cs|lua|css|html)$/;

const files = ["src", "test", "unity-plugin"]
  .flatMap((top) =>
    readdirSync(PROJECT + top, { recursive: true, encoding: "utf8" }).map((path) => `${top}/${path}`),
  )
  .filter((path) => CODE.test(path));

const linesOf = (path: string): number => readFileSync(PROJECT + path, "utf8").split("\n").length - 1;

/** The innermost room that a file lies in. */
const roomOf = (path: string): string | undefined =>
  Object.keys(budgets.rooms)
    .filter((room) => path.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0];

function sizeOf(paths: readonly string[]): Size {
  return { files: paths.length, lines: paths.reduce((sum, path) => sum + linesOf(path), 0) };
}

test("no room is above its budget, and none has grown far below it", () => {
  const rooms = Object.entries(budgets.rooms).map(([room, budget]) => ({
    room,
    budget,
    size: sizeOf(files.filter((path) => roomOf(path) === room)),
  }));
  const src = files.filter((path) => path.startsWith("src/"));
  const folders = new Set(src.map((path) => dirname(path))).size;
  const whole = { room: "src, whole", budget: budgets.src, size: sizeOf(src) };
  const all = [...rooms, whole];
  console.table(
    Object.fromEntries(
      all.map(({ room, budget, size }) => [
        room,
        { lines: size.lines, "of at most": budget.lines, files: size.files, of: budget.files },
      ]),
    ),
  );
  const above = all.filter(({ budget, size }) => size.lines > budget.lines || size.files > budget.files);
  expect(above).toEqual([]);
  expect(folders).toBeLessThanOrEqual(budgets.src.folders);
  // A ceiling far above what stands under it holds nothing up: lower it.
  const loose = all.filter(({ budget, size }) => budget.lines - size.lines > Math.max(150, size.lines / 50));
  expect(loose.map(({ room, size }) => ({ room, size }))).toEqual([]);
});

test("every file of src lies in a room", () => {
  expect(files.filter((path) => path.startsWith("src/") && roomOf(path) === undefined)).toEqual([]);
});
