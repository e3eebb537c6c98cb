/** What is wrong with a configuration: where, which key, and what it may be. */
import { relative } from "node:path";
import type { z } from "zod";
import { didYouMean, nearest } from "../../shared/editors/target.js";
import { head } from "../../shared/printable.js";
import { type FileSetting, keyOf, type SettingName } from "../../shared/setting-names.js";
import { UsageError } from "../command.js";
import type { ConfigFile, FileProblem, Place } from "./config-file.js";

export interface Problem extends Partial<Place> {
  /** Undefined: a variable is wrong. */
  file?: string;
  /** The key in the file, or the variable. */
  key?: string | undefined;
  what: string;
}

/** Everything that is wrong at once. */
export class WrongConfiguration extends UsageError {
  readonly problems: readonly Problem[];

  constructor(found: readonly Problem[]) {
    // As they stand in the file; what is elsewhere comes last.
    const problems = [...found].sort((a, b) => Math.sign(lineOf(a) - lineOf(b)) || 0);
    const lines = problems.map(problemLine);
    super(
      `Configuration: ${lines.length === 1 ? lines[0] : [`${lines.length} problems`, ...lines].join("\n  ")}`,
    );
    this.problems = problems;
  }
}

function lineOf({ file, line = 0 }: Problem): number {
  return file === undefined ? Number.POSITIVE_INFINITY : line;
}

export function problemLine({ file, line, column, key, what }: Problem): string {
  const parts = file === undefined ? [] : [shortPath(file), line, column];
  const place = parts.filter((part) => part !== undefined).join(":");
  if (place === "") return `${key}: ${what}`;
  return key === undefined ? `${place}: ${what}` : `${place} ${key}: ${what}`;
}

/** From the working folder, if the file is below it. */
export function shortPath(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith("..") ? file : near;
}

export function fileProblems({ path, problems }: ConfigFile): Problem[] {
  return problems.map((problem: FileProblem) => ({ file: path, ...problem }));
}

const SECRETS: readonly SettingName[] = ["REDIS_URL", "UNITY_BROKER_TOKEN"];

/** Where a setting has its value: in the file, unless the environment has one. `within`: of a mapping. */
export function placeOf(
  name: FileSetting,
  { env, file }: { env: NodeJS.ProcessEnv; file: ConfigFile | undefined },
  within: readonly PropertyKey[] = [],
): Omit<Problem, "what"> {
  const inFile = env[name] ? undefined : file?.values.get(name);
  const key = [inFile ? keyOf(name) : name, ...within.map(String)].join(".");
  return file && inFile ? { file: file.path, ...inFile.placeOf(within), key } : { key };
}

/** The issues of the schema of all settings. */
export function issueProblems(
  issues: readonly z.core.$ZodIssue[],
  sources: { env: NodeJS.ProcessEnv; file: ConfigFile | undefined },
): Problem[] {
  const { env, file } = sources;
  return issues.flatMap((issue) => {
    const [setting, ...within] = issue.path;
    const name = setting as FileSetting;
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => {
        const what = `unknown${didYouMean(key, issue.message.split(", "))}; known: ${issue.message}`;
        return { ...placeOf(name, sources, [...within, key]), what };
      });
    const text = env[name] || (file?.values.get(name)?.text ?? "");
    const value = SECRETS.includes(name) ? undefined : valueAt(text, within);
    return [{ ...placeOf(name, sources, within), what: whatIsWrong(issue, value) }];
  });
}

/** Of a setting that is a mapping: what is there in it. */
function valueAt(text: string, path: readonly PropertyKey[]): unknown {
  if (path.length === 0) return text;
  try {
    return path.reduce(
      (value: unknown, name) => (value as Record<PropertyKey, unknown> | undefined)?.[name],
      JSON.parse(text) as unknown,
    );
  } catch {
    return undefined;
  }
}

function whatIsWrong(issue: z.core.$ZodIssue, value: unknown): string {
  const isNumber = typeof value === "string" && /^-?[\d.]+$/.test(value);
  const written =
    value === undefined ? "" : `${isNumber ? value : head(JSON.stringify(value), 80)} is wrong: `;
  switch (issue.code) {
    case "invalid_type": {
      const wanted =
        issue.expected === "int" ? "whole number" : issue.expected === "record" ? "mapping" : issue.expected;
      const hasUnit = wanted === "number" && typeof value === "string" && /^[\d.]+ *[a-z]+$/i.test(value);
      const form = wanted === "object" ? "mapping" : wanted;
      return `${written}expected a ${form}${hasUnit ? ", without a unit" : ""}`;
    }
    case "invalid_value": {
      const allowed = issue.values.map(String);
      const near = typeof value === "string" ? nearest(value, allowed) : undefined;
      const meant = near === undefined ? "" : ` (did you mean ${near}?)`;
      return `${written}expected one of ${allowed.join(", ")}${meant}`;
    }
    case "too_small":
      return `${written}expected ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    case "too_big":
      return `${written}expected ${issue.inclusive ? "at most" : "less than"} ${issue.maximum}`;
    case "custom":
      return issue.message;
    default:
      return `${written}${issue.message}`;
  }
}
