/** What a command has to say cannot be written: on a full disk or to nobody. The table says how each ends. */
import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isLongForm } from "../../harness/long-form.js";
import { MAIN } from "../../harness/processes/processes.js";
import { blocks, useSteps } from "../run/steps.js";
import { EXPECTED, saidOf } from "./expected.js";

const { here, simulate, executions } = useSteps();

type Stream = "stdout" | "stderr";

/** `closed`: the command begins without this stream, which the system then gives it as one that takes everything. */
async function writing(
  args: readonly string[],
  stream: Stream,
  to: "/dev/full" | "closed",
  env = here().env,
) {
  const file = openSync(to === "closed" ? "/dev/null" : to, "w");
  const close = to === "closed" ? (stream === "stdout" ? "exec 1>&-; " : "exec 2>&-; ") : "";
  const stdio: ["ignore", number | "pipe", number | "pipe"] = ["ignore", "pipe", "pipe"];
  stdio[stream === "stdout" ? 1 : 2] = file;
  const line = ["-c", `${close}exec "$@"`, "bash", process.execPath, MAIN, ...args];
  const child = spawn("bash", line, { env, stdio });
  here().processes.guard(child.pid ?? 0);
  let said = "";
  for (const end of [child.stdout, child.stderr])
    end?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  closeSync(file);
  return { code, said };
}

const CALL = ["call", "execute-menu-item", "--json", blocks(0)];
/** Each asks another part of the broker. */
const COMMANDS = [
  ["list"],
  ["result", "$id"],
  ["logs", "$id"],
  ["watch", "--json"],
  ...(isLongForm
    ? [CALL, ["list", "--json"], ["editors"], ["tools"], ["doctor"], ["status", "$id"], ["explain", "$id"]]
    : []),
];

let cases = 0;
afterAll(() => console.info(`commands whose output could not be written: ${cases}`));

test("every command on a full disk ends with its own code and one sentence; without a stream it ends as ever", async () => {
  await simulate();
  const first = await writing(CALL, "stderr", "/dev/full");
  const id = /"log_id": ?"([^"]+)"/.exec(first.said)?.[1] ?? "";
  expect(first.code, first.said).toBe(EXPECTED["command line: stderr"].end);
  const onFullDisk = async (words: readonly string[]) => {
    const args = words.map((word) => (word === "$id" ? id : word));
    const full = await writing(args, "stdout", "/dev/full");
    cases += 1;
    expect(full.code, `${args.join(" ")}: ${full.said}`).toBe(EXPECTED["command line: stdout"].end);
    expect(full.said).toContain(EXPECTED["command line: stdout"].says);
    expect(full.said).not.toMatch(/^\s+at /m);
  };
  const withoutStream = async (stream: Stream) => {
    const closed = await writing(["list"], stream, "closed");
    cases += 1;
    expect(closed.code, closed.said).toBe(EXPECTED["command line: closed"].end);
  };
  await Promise.all([...COMMANDS.map(onFullDisk), withoutStream("stdout"), withoutStream("stderr")]);
  expect(executions()).toBeGreaterThan(0);
});

test("a file in the way of the data folder is said in a sentence", async () => {
  const file = join(here().folder, "file");
  writeFileSync(file, "");
  const dataDir = join(file, "data");
  const [said = ""] = saidOf("command line: folder", dataDir, ["ENOTDIR"]);
  const env = { ...here().env, UNITY_BROKER_DATA_DIR: dataDir };
  const ended = await writing(["list"], "stdout", "closed", env);
  expect(ended).toEqual({ code: EXPECTED["command line: folder"].end, said });
});
