/** The tests that a result of run-tests reports, and their names taken apart. */

export interface TestCase {
  /** Namespace and class, with the arguments of the fixture; empty where the name has no dot. */
  className: string;
  /** The method with its arguments. */
  name: string;
  result: "passed" | "failed" | "skipped" | "inconclusive";
  ms: number;
  message?: string | undefined;
  stackTrace?: string | undefined;
  /** Relative to the repository, if the project's folder in it was given; else to the project. */
  file?: string | undefined;
  line?: number | undefined;
}

const RESULTS: readonly string[] = ["passed", "failed", "skipped", "inconclusive"];

/** Those of a whole result, or of a partial one; none where it reports no tests. `folder`: the project's. */
export function testCasesIn(result: unknown, folder = ""): TestCase[] {
  const { cases, failures } = (result ?? {}) as { cases?: unknown; failures?: unknown };
  if (!Array.isArray(cases)) return [];
  const traces = new Map<unknown, unknown>(
    (Array.isArray(failures) ? failures : []).map(({ name, stackTrace }) => [name, stackTrace]),
  );
  return cases.flatMap((entry: Record<string, unknown> | null) => {
    if (typeof entry?.name !== "string" || !RESULTS.includes(String(entry.result))) return [];
    const { name, result, ms, message, file, line } = entry;
    const trace = result === "failed" ? traces.get(name) : undefined;
    return {
      ...partsOf(String(name)),
      result: result as TestCase["result"],
      ms: typeof ms === "number" && ms >= 0 ? ms : 0,
      ...(typeof message === "string" ? { message } : {}),
      ...(typeof trace === "string" && trace !== "" ? { stackTrace: trace } : {}),
      ...(typeof file === "string" ? { file: within(folder, file) } : {}),
      ...(typeof line === "number" ? { line } : {}),
    };
  });
}

function within(folder: string, file: string): string {
  const trimmed = folder
    .replaceAll("\\", "/")
    .replace(/^(\.\/)+/, "")
    .replace(/\/+$/, "");
  return trimmed === "" || trimmed === "." ? file : `${trimmed}/${file}`;
}

/** The last dot that is not within arguments separates, as in the C# bridge's TestCaseName. */
export function partsOf(fullName: string): Pick<TestCase, "className" | "name"> {
  let last = -1;
  let depth = 0;
  let quote = "";
  for (let at = 0; at < fullName.length; at += 1) {
    const letter = fullName[at] ?? "";
    if (quote !== "") {
      if (letter === "\\") at += 1;
      else if (letter === quote) quote = "";
    } else if (depth > 0 && (letter === '"' || letter === "'")) quote = letter;
    else if (letter === "(" || letter === "<") depth += 1;
    else if ((letter === ")" || letter === ">") && depth > 0) depth -= 1;
    else if (letter === "." && depth === 0) last = at;
  }
  return { className: fullName.slice(0, Math.max(0, last)), name: fullName.slice(last + 1) };
}
