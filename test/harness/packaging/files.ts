/** The files of the project that others read. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const PROJECT = resolve(import.meta.dirname, "../../..");

export const textOf = (path: string): string => readFileSync(join(PROJECT, path), "utf8");

export const jsonOf = <T = Record<string, unknown>>(path: string): T => JSON.parse(textOf(path)) as T;
