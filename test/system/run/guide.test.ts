/** The steps of docs/guide/ci.md, as they stand there, by a shell: once, retried, and started again while they run. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { faultsOfJunit } from "../../harness/junit.js";
import { MAIN, until } from "../../harness/processes/processes.js";
import { useSteps } from "./steps.js";

const { simulate, executions, here } = useSteps();

const GUIDE = readFileSync(new URL("../../../docs/guide/ci.md", import.meta.url), "utf8");
const [github, gitlab] = [...GUIDE.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) =>
  parse(text),
) as [
  { jobs: { unity: { steps: { run?: string; with?: { path: string } }[] } } },
  { unity: { script: string[]; artifacts: { reports: { junit: string } } } },
];

const PIPELINES = [
  {
    name: "GitHub Actions",
    env: { GITHUB_ACTIONS: "true", CI: "true", GITHUB_RUN_ID: "4711", GITHUB_JOB: "unity" },
    steps: github.jobs.unity.steps.flatMap(({ run }) => run ?? []),
    report: github.jobs.unity.steps.find((step) => step.with)?.with?.path ?? "",
  },
  {
    name: "GitLab",
    env: { CI: "true", GITHUB_ACTIONS: "", CI_PIPELINE_ID: "4712", CI_JOB_NAME: "unity tests: [a b]" },
    steps: gitlab.unity.script,
    report: gitlab.unity.artifacts.reports.junit,
  },
];

/** A step in a shell as a runner has it, where the command is installed. */
function shell(step: string, env: Record<string, string>, folder: string) {
  const bin = join(here().folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "unity-broker"), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, {
    mode: 0o755,
  });
  const path = `${bin}${delimiter}${process.env.PATH}`;
  const child = spawn("bash", ["-e", "-o", "pipefail", "-c", step], {
    cwd: folder,
    env: { ...here().env, ...env, PATH: path },
    detached: true,
  });
  here().processes.guard(child.pid ?? 0);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const ended = new Promise<{ code: number | null; said: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, said })),
  );
  return { ended, kill: () => process.kill(-(child.pid ?? 0), "SIGKILL") };
}

test.each(PIPELINES)(
  "$name: every step runs, a retry runs it again, and one that died is found",
  async ({ env, steps, report }) => {
    expect(steps.length).toBeGreaterThan(1);
    const folder = join(here().folder, "checkout");
    mkdirSync(folder);
    // On disk: a build writes files.
    await simulate("--project", folder);
    const readReport = () => readFileSync(join(folder, report), "utf8");
    for (const attempt of ["first", "retry"]) {
      for (const step of steps) {
        const ran = executions();
        const { code, said } = await shell(step, env, folder).ended;
        expect(code, `${step}\n${said}`).toBe(0);
        expect(executions()).toBe(ran + 1);
        expect(/was read before: it runs again/.test(said), said).toBe(attempt === "retry");
      }
      expect(await faultsOfJunit(readReport())).toEqual([]);
      expect(readReport()).toMatch(/<testsuites .*tests="10" failures="0"/);
    }
    // The runner dies with the step, and the same job is started on another one.
    const tests = steps.find((step) => step.includes("run-tests")) ?? "";
    const ran = executions();
    const dies = shell(tests, env, folder);
    await until("it runs", () => executions() === ran + 1);
    dies.kill();
    await dies.ended;
    const { code, said } = await shell(tests, env, folder).ended;
    expect(code, said).toBe(0);
    expect(executions()).toBe(ran + 1);
    expect(readReport()).toMatch(/tests="10"/);
  },
);

test("the keys of the guide name the run and the job, and not the attempt", () => {
  for (const { steps } of PIPELINES)
    for (const step of steps)
      expect(step).toMatch(/--key "\$(GITHUB_RUN_ID-\$GITHUB_JOB|CI_PIPELINE_ID-\$CI_JOB_NAME)-\w+"/);
  expect(GUIDE).not.toMatch(/ATTEMPT/);
});
