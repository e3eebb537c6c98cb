/** The kit for people with a Unity licence (unity-plugin/RealEditor~), played with a stand-in: its driver, and its report. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { findProgram, searchDirectories } from "../../../src/embedded-redis/run-command.js";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { type Behaviour, useLaunches } from "./unity.js";

const { install, here } = useLaunches();
const KIT = fileURLToPath(new URL("../../../unity-plugin/RealEditor~/", import.meta.url));
const VERSION = "2022.3.40f1";
/** Dozens of commands, one after the other, on a machine whose cores may all be busy. */
const LIMIT_MS = 10 * 60_000;

interface Step {
  id: string;
  status: "proven" | "failed" | "not_offered" | "not_proven_here";
  observed?: string;
}
interface Report {
  unity: string;
  standIn: boolean;
  modes: { mode: string; problem?: string; steps: Step[]; log: string[] }[];
}

/** Runs the command, as a person types it. */
async function prove(
  ...args: string[]
): Promise<{ code: number | null; said: string; text: string; report: Report }> {
  const { folder, env, processes } = here();
  const file = join(folder, "report.md");
  const command = [join(KIT, "prove"), VERSION, "--report", file, "--folder", folder, ...args];
  const child = spawn("/bin/sh", command, { env: { ...env, PATH: process.env.PATH } });
  processes.guard(child.pid ?? 0);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [, json = "{}"] = /```json\n([\s\S]*?)\n```/.exec(text) ?? [];
  return { code, said, text, report: JSON.parse(json) as Report };
}

const statuses = ({ modes }: Report): Record<string, Set<string>> => {
  const all: Record<string, Set<string>> = {};
  for (const { id, status } of modes.flatMap(({ steps }) => steps)) {
    all[status] ??= new Set();
    all[status].add(id);
  }
  return all;
};

describe("the kit's project", () => {
  test.for([
    ["2021.3.45f1", "1.1.33"],
    ["2022.3.40f1", "1.1.33"],
    ["2023.2.20f1", "1.1.33"],
    ["6000.0.30f1", "1.4.6"],
    ["6000.3.19f1", "1.4.6"],
    ["6000.5.2f1", undefined],
    ["6000.10.0b1", undefined],
    ["7000.0.0a1", undefined],
  ] as const)(
    "names a test framework that Unity %s compiles, and this package",
    async ([version, framework]) => {
      const kit = (await import(join(KIT, "kit", "editor.mjs"))) as {
        prepareProject(version: string, folder: string): { path: string; read(file: string): string };
      };
      const project = kit.prepareProject(version, here().folder);
      const { dependencies } = JSON.parse(project.read("Packages/manifest.json")) as {
        dependencies: Record<string, string>;
      };
      expect(dependencies["com.unity.test-framework"]).toBe(framework);
      const [, way = ""] = /^file:(.*)$/.exec(dependencies["org.jobbroker.unity-bridge"] ?? "") ?? [];
      expect(existsSync(join(project.path, "Packages", way, "package.json"))).toBe(true);
    },
  );
});

describe("prove", { skip: process.platform === "win32" }, () => {
  test.runIf(hasDotnet)(
    "proves what a stand-in can show, by the broker's command line, and says what it cannot",
    async () => {
      install(VERSION, "opens, in C#");
      const { code, said, text, report } = await prove("--stand-in");
      expect(code, said).toBe(0);
      expect(report).toMatchObject({
        unity: VERSION,
        standIn: true,
        modes: [{ mode: "batch" }, { mode: "window" }],
      });
      const { proven, failed, not_proven_here: notProven } = statuses(report);
      expect(failed).toBeUndefined();
      expect(proven).toEqual(new Set(["found", "compiles", "twice", "timeout"]));
      for (const id of ["package", "reload-in-run", "dirty-scene", "second-process", "profiler", "quits"])
        expect(notProven, id).toContain(id);
      expect(text).toContain("**Not a real Editor**");
      expectNothingPrivate(text);
    },
    LIMIT_MS,
  );

  test(
    "names what the Editor does not offer, and what is not as expected",
    async () => {
      install(VERSION, "opens");
      // Taken for Unity, it does nothing of what only Unity does.
      const { code, said, report } = await prove("--only", "batch");
      expect(code, said).toBe(1);
      const { proven, failed, not_offered: notOffered, not_proven_here: unproven } = statuses(report);
      expect(unproven).toBeUndefined();
      for (const id of ["compiles", "twice", "timeout"]) expect(proven, id).toContain(id);
      for (const id of [
        "found",
        "edit-mode",
        "once",
        "reload-in-run",
        "reload",
        "changed-script",
        "compile-errors",
      ])
        expect(failed, id).toContain(id);
      for (const id of ["logs", "dirty-scene", "second-process", "quits"]) expect(failed, id).toContain(id);
      expect(said).not.toContain("the step failed");
      // Nothing is both.
      for (const id of notOffered ?? []) expect(failed).not.toContain(id);
      expect(report.modes.map(({ mode }) => mode)).toEqual(["batch"]);
    },
    LIMIT_MS,
  );

  test.each<[Behaviour | "none", RegExp]>([
    ["dies", /No valid Unity Editor license|ended/],
    ["none", /needs Unity 2022\.3\.40f1/],
  ])("without an Editor (%s) the report says why", async (behaviour, why) => {
    if (behaviour !== "none") install(VERSION, behaviour);
    const { code, said, text, report } = await prove("--only", "batch");
    expect(code, said).toBe(2);
    expect(report.modes[0]?.problem).toMatch(why);
    expectNothingPrivate(text);
  });

  test("another word than a version is refused with the usage", async () => {
    const { folder, env } = here();
    const child = spawn("/bin/sh", [join(KIT, "prove"), "../etc"], { env, cwd: folder });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(2);
  });
});

/** Shellcheck, where there is one. */
const shellcheck = findProgram(["shellcheck"], searchDirectories(process.env, process.platform));
test.skipIf(shellcheck === undefined)("its script passes shellcheck", async () => {
  const child = spawn(String(shellcheck), [join(KIT, "prove")], { stdio: "inherit" });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
});

/** A report is sent to others. */
function expectNothingPrivate(text: string): void {
  const { folder, env } = here();
  const { username } = userInfo();
  expect(text).not.toContain(folder);
  expect(text).not.toContain(String(env.HOME));
  expect(text).not.toContain(KIT);
  if (username !== "root") expect(text).not.toContain(username);
  expect(text).not.toMatch(/"token"/);
}
