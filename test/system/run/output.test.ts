/** What a command writes is there, or it says that it is not: full disks, writes of which a part was taken, readers that go away. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MAIN } from "../../harness/processes/processes.js";
import { blocks, useSteps } from "./steps.js";

const { type, here, simulate, executions } = useSteps();

const CALL = ["execute-menu-item", blocks(0)] as const;

/** Its standard output is this file; `limit`: of the size of files, KiB, beyond which a write is taken in part. */
async function writing(path: string, args: readonly string[], limit = "unlimited") {
  const { env, processes } = here();
  const file = openSync(path, "w");
  // bash, because other shells count in blocks of 512 bytes.
  const line = ["-c", `ulimit -f ${limit}; exec "$@"`, "bash", process.execPath, MAIN, ...args];
  const child = spawn("bash", line, { env, stdio: ["ignore", file, "pipe"] });
  processes.guard(child.pid ?? 0);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  closeSync(file);
  return { code, stderr };
}

const UNWRITTEN = {
  code: 74,
  stderr: expect.stringMatching(
    /^unity-broker: the output could not be written: .+\. What was executed is recorded: make room and type the same again\.\n$/,
  ),
};

describe.each([["--version"], ["--help"], ["config", "schema"], ["doctor", "--json"]])("%s %s", (...args) => {
  const words = args.filter((word) => typeof word === "string");

  test("on a full disk ends with its own code", async () => {
    expect(await writing("/dev/full", words)).toMatchObject(UNWRITTEN);
  });
});

test("a write of which the disk takes a part is gone on with, and fails where it cannot be", async () => {
  const path = join(here().folder, "help.txt");
  expect(await writing(path, ["--help"], "1")).toMatchObject(UNWRITTEN);
  expect(readFileSync(path)).toHaveLength(1024);
  expect(await writing(path, ["--help"])).toEqual({ code: 0, stderr: "" });
  expect(readFileSync(path, "utf8")).toBe((await type(["--help"])).stdout);
});

test.each([
  [["run", ...CALL, "--output", "json"]],
  [["run", ...CALL]],
  [["call", "execute-menu-item", "--json", CALL[1]]],
])(
  "an outcome that a full disk has not taken is not read: %j finds it when it is typed again",
  async (args) => {
    await simulate();
    const { code, stderr } = await writing("/dev/full", args);
    expect(code, stderr).toBe(74);
    expect(executions()).toBe(1);
    const found = await type(args);
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining("Not run again") });
    expect(executions()).toBe(1);
    expect(await type(args)).toMatchObject({ code: 0 });
    expect(executions()).toBe(2);
  },
);

test("a reader that goes away is no failure, and no crash", async () => {
  await simulate();
  const { env, processes } = here();
  const child = spawn(process.execPath, [MAIN, "run", ...CALL], { env });
  processes.guard(child.pid ?? 0);
  child.stdout.destroy();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  expect(await new Promise((resolve) => child.once("close", resolve)), stderr).toBe(0);
  expect(stderr).not.toMatch(/^\s+at /m);
});
