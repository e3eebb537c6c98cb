/** The tests that a result of run-tests reports. */

export interface TestCase {
  /** The full name of its class, with the arguments of the fixture; empty where the Editor does not report it. */
  className: string;
  /** The method with its arguments, or whatever the test is called: its name within the class. */
  name: string;
  fullName: string;
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
    const { name: fullName, className: reported, result, ms, message, file, line } = entry;
    const trace = result === "failed" ? traces.get(fullName) : undefined;
    const className = typeof reported === "string" ? reported : "";
    const isWithin = className !== "" && fullName.startsWith(`${className}.`);
    return {
      className,
      name: isWithin ? fullName.slice(className.length + 1) : fullName,
      fullName,
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
