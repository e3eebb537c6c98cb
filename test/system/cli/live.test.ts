/** What people watch in a terminal: `watch`, `logs`, a call's own progress; and that none of it reads an outcome for anybody. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runningBrokers } from "../../harness/processes/brokers.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { MAIN, until } from "../../harness/processes/processes.js";

const { type, start, here } = useCommandLine();

const item = (seconds: number): string =>
  JSON.stringify({ MenuItemPath: `Simulator/Block For ${seconds} Seconds` });

async function simulate(): Promise<string> {
  const ledger = join(here().folder, "ledger");
  const [, editor = ""] = await start("editor", ["simulate", "--port", "0", "--ledger-folder", ledger]).line(
    /^Simulated Unity Editor (\S+)/,
  );
  return editor;
}

/** Typed on a terminal; what it says goes to the returned text. */
function onTerminal(args: readonly string[]) {
  const command = `exec ${[process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ")}`;
  const env = { ...here().env, TERM: "xterm" };
  const child = spawn("script", ["-qefc", command, "/dev/null"], { env });
  here().processes.guard(child.pid ?? 0);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { said: () => said, write: (keys: string) => child.stdin.write(keys), ended };
}

test("watch in a pipe tells each change on a line, and reads no outcome", async () => {
  const editor = await simulate();
  const watching = start("watch", ["watch", "--interval", "0.1"]);
  await watching.line(new RegExp(`${editor}  ready`));
  const called = await type(["call", "execute-menu-item", "--json", item(0.5), "--timeout", "0"]);
  const { log_id: logId } = JSON.parse(called.stdout) as { log_id: string };
  await watching.line(new RegExp(`${logId}  running .*execute-menu-item  ${editor}`));
  await watching.line(new RegExp(`${logId}  completed .*execute-menu-item  ${editor}`));
  expect(await watching.kill("SIGINT")).toEqual({ code: 0, signal: null });
  const { stdout } = await type(["explain", logId, "--json"]);
  const { timeline } = JSON.parse(stdout) as { timeline: { event: string }[] };
  expect(timeline.map(({ event }) => event)).not.toContain("delivered");
});

test.runIf(process.platform === "linux")(
  "watch on a terminal draws a screen, gives the old one back, and ends with q",
  async () => {
    const editor = await simulate();
    const watching = onTerminal(["watch", "--interval", "0.1"]);
    await until("it is drawn", () => watching.said().includes(editor));
    expect(watching.said()).toContain("\u001b[?1049h");
    watching.write("q");
    expect(await watching.ended).toBe(0);
    expect(watching.said()).toContain("\u001b[?25h\u001b[?1049l");
  },
);

test.runIf(process.platform === "linux")(
  "watch tells on a terminal that a broker says nothing, and q ends it also then",
  async () => {
    await simulate();
    const watching = onTerminal(["watch", "--interval", "0.1"]);
    await until("it is drawn", () => watching.said().includes("Editors connected"));
    const [pid] = runningBrokers(here().env) as [number];
    here().processes.guard(pid);
    process.kill(pid, "SIGSTOP");
    try {
      await until("it tells", () => watching.said().includes("No answer for"));
      const before = watching.said().length;
      watching.write("q");
      await until("the old screen is back", () => watching.said().includes("\u001b[?1049l"));
      // It did not wait until the broker was given up, drawing on.
      expect(watching.said().slice(before).split("No answer for").length).toBeLessThan(4);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    expect(await watching.ended).toBe(0);
  },
);

test.runIf(process.platform === "linux")(
  "a call on a terminal tells its log_id at once, before its outcome, and each second that it waits",
  async () => {
    await simulate();
    await type(["tools"]);
    const calling = onTerminal(["call", "execute-menu-item", "--args", item(2)]);
    await until("it told its log_id", () => /log_id \S+ {2}accepted/.test(calling.said()));
    expect(calling.said()).not.toContain("completed");
    expect(await calling.ended).toBe(0);
    expect(calling.said()).toContain("(waited 1 s)");
    expect(calling.said()).toContain("completed");
  },
);

test.runIf(process.platform === "linux")(
  "Ctrl-C detaches a call from a broker that says nothing, and tells the log_id",
  async () => {
    await simulate();
    const calling = onTerminal(["call", "execute-menu-item", "--args", item(3)]);
    await until("it runs", () => /running/.test(calling.said()));
    const [, logId = "none"] = /log_id (\S+) {2}accepted/.exec(calling.said()) ?? [];
    const [pid] = runningBrokers(here().env) as [number];
    here().processes.guard(pid);
    process.kill(pid, "SIGSTOP");
    try {
      calling.write("\u0003");
      await until("it is detached", () => calling.said().includes("The operation goes on."));
      expect(calling.said()).toContain(`result ${logId} --follow`);
      // Not that of a broker that was given up.
      expect(calling.said()).not.toContain("down");
    } finally {
      process.kill(pid, "SIGCONT");
    }
    expect(await calling.ended).toBe(130);
    const again = await type(["call", "execute-menu-item", "--args", item(3)]);
    expect(again.stdout).toContain(logId);
    expect(again.stdout).toMatch(/Once more: {2}type it again/);
    expect((await type(["call", "execute-menu-item", "--args", item(3)])).stdout).not.toContain(logId);
  },
);

test("logs tells an operation's history and the Console's lines until its end, and reads no outcome", async () => {
  await simulate();
  const called = await type(["call", "run-tests", "--json", "{}", "--timeout", "0"]);
  const { log_id: logId } = JSON.parse(called.stdout) as { log_id: string };
  const followed = await type(["logs", logId, "--follow"]);
  expect(followed.code, followed.stderr).toBe(0);
  const at = (what: RegExp): number => followed.stdout.search(what);
  expect(at(/accepted/)).toBeGreaterThan(0);
  expect(at(/started/)).toBeGreaterThan(at(/accepted/));
  expect(at(/completed/)).toBeGreaterThan(at(/started/));
  expect(followed.stdout).not.toContain("delivered");
  const asJson = (await type(["logs", logId, "--json"])).stdout.trim().split("\n");
  expect(asJson.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ event: "completed" }),
  );
  const { stdout } = await type(["call", "execute-menu-item", "--json", item(0.5), "--timeout", "0"]);
  const said = await type(["logs", (JSON.parse(stdout) as { log_id: string }).log_id, "--follow"]);
  expect(said.stdout).toMatch(/started[\s\S]*\| Executed Simulator[\s\S]*completed/);
  expect(await type(["logs", "nothing"])).toMatchObject({ code: 4 });
});

/** A folder with the command under its own name, for the shells that call it by that. */
function commandFolder(): string {
  const bin = join(here().folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "unity-broker"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, "unity-broker"), 0o755);
  return bin;
}

test("a shell completes commands, options, Editors and log_ids; a Tab starts no broker", async () => {
  const bin = commandFolder();
  const { stdout: script } = await type(["completion", "bash"]);
  /** As bash fills in what it completes by: it takes a word apart at "@". */
  const completed = (line: string): string[] => {
    const words = line
      .replace(/@/g, " @ ")
      .split(" ")
      .map((word) => `'${word}'`);
    const typed = `${script}\nCOMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(${words.join(" ")}) COMP_CWORD=${words.length - 1}
_unity_broker; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...here().env, PATH: `${bin}:${process.env.PATH}` };
    return spawnSync("bash", ["-c", typed], { env, encoding: "utf8" }).stdout.split("\n").filter(Boolean);
  };
  expect(completed("unity-broker wor")).toEqual(["worker", "workers"]);
  expect(completed("unity-broker call echo --fo")).toEqual(["--follow", "--force-new"]);
  expect(completed("unity-broker call ")).toEqual([]);
  const editor = await simulate();
  const called = await type(["call", "execute-menu-item", "--json", item(0.1)]);
  const { log_id: logId } = JSON.parse(called.stdout) as { log_id: string };
  expect(completed("unity-broker call execute-m")).toEqual(["execute-menu-item"]);
  expect(completed(`unity-broker call echo --editor ${editor.slice(0, 3)}`)).toEqual([editor]);
  expect(completed(`unity-broker call echo --editor ${editor.slice(0, -4)}`)).toEqual([editor.split("@")[1]]);
  expect(completed("unity-broker result ")).toEqual([logId]);
});

const hasPowerShell = spawnSync("pwsh", ["-Version"]).status === 0;

test.runIf(hasPowerShell)("PowerShell completes them too, also in the middle of a line", () => {
  const lines = [
    "unity-broker wor",
    "unity-broker call echo --fo",
    "unity-broker completion ",
    "'x'; unity-broker wat",
  ];
  const program = [
    "unity-broker completion powershell | Out-String | Invoke-Expression",
    "function told($line, $at) { (TabExpansion2 $line $at).CompletionMatches.CompletionText -join ' ' }",
    ...lines.map((line) => `told "${line}" ${line.length}`),
    "told 'unity-broker wat --json' 16",
  ].join("\n");
  const env = { ...here().env, PATH: `${commandFolder()}:${process.env.PATH}` };
  const { stdout } = spawnSync("pwsh", ["-NoProfile", "-Command", program], { env, encoding: "utf8" });
  expect(stdout.trim().split("\n")).toEqual([
    "worker workers",
    "--follow --force-new",
    "bash zsh fish powershell",
    "watch",
    "watch",
  ]);
});
