/**
 * Counts real executions outside the Editor's memory: one line `<operationId> <what> <epoch ms>` for every
 * execution of a mutating tool, appended as it BEGINS. No test may ever see one operation here twice.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

export interface CounterLine {
  operationId: string;
  /** The menu path of a menu item, else the tool's name. */
  what: string;
  at: number;
}

export interface CounterFile {
  readonly file: string;
  append(line: CounterLine): void;
  lines(): CounterLine[];
}

export function createCounterFile(file: string): CounterFile {
  mkdirSync(dirname(file), { recursive: true });
  return {
    file,
    append: ({ operationId, what, at }) => appendFileSync(file, `${operationId} ${what} ${at}\n`),
    lines() {
      if (!existsSync(file)) return [];
      return readFileSync(file, "utf8").split("\n").filter(Boolean).map(parseLine);
    },
  };
}

function parseLine(line: string): CounterLine {
  const first = line.indexOf(" ");
  const last = line.lastIndexOf(" ");
  return {
    operationId: line.slice(0, first),
    what: line.slice(first + 1, last),
    at: Number(line.slice(last + 1)),
  };
}
