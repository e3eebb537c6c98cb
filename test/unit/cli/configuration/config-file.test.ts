/** A configuration file: every mistake with its line, all of them at once; what is right means what the variables mean. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import {
  configFileOf,
  parseConfigFile,
  settingsEnvironment,
} from "../../../../src/cli/configuration/config-file.js";
import { type Problem, WrongConfiguration } from "../../../../src/cli/configuration/problems.js";
import { readConfiguration } from "../../../../src/cli/configuration/read-configuration.js";
import { environment, takeConfigFile } from "../../../../src/cli/environment.js";
import type { Config } from "../../../../src/shared/config.js";

const folder = mkdtempSync(join(tmpdir(), "ujb-config-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, "broker.yaml");

function read(text: string | Buffer, env: NodeJS.ProcessEnv = {}): Config {
  writeFileSync(path, text);
  return readConfiguration({ UNITY_BROKER_CONFIG: path, ...env });
}

function problemsOf(text: string | Buffer, env: NodeJS.ProcessEnv = {}): readonly Problem[] {
  try {
    read(text, env);
    return [];
  } catch (error) {
    if (error instanceof WrongConfiguration) return error.problems;
    throw error;
  }
}

test.each([
  ["a section that is not there", "gatway:\n  port: 1", 1, /^gatway$/, /did you mean gateway\?/],
  [
    "a key that is not there",
    "gateway:\n\n  prot: 1",
    3,
    /^gateway\.prot$/,
    /did you mean port\?.*known: host/,
  ],
  [
    "a key of another section",
    "gateway:\n  hours: 1",
    2,
    /^gateway\.hours$/,
    /did you mean retention\.hours\?/,
  ],
  ["a variable's name", "log: {level: info}\nUNITY_BROKER_PORT: 1", 2, /PORT/, /gateway\.port here/],
  ["a word for a number", "gateway:\n  port: http", 2, /^gateway\.port$/, /"http".*a number/],
  ["a number that is too large", "gateway:\n  host: x\n  port: 70000", 3, /port/, /70000.*at most 65535/],
  ["a fraction", "limits:\n  running: 1.5", 2, /running/, /whole number/],
  ["nothing that may run", "limits:\n  running: 0", 2, /running/, /more than 0/],
  [
    "another word than those allowed",
    "log:\n  level: warning",
    2,
    /^log\.level$/,
    /silent, error, warn.*did you mean warn\?/,
  ],
  ["neither true nor false", "calls:\n  cancel_overdue: perhaps", 2, /cancel_overdue/, /"true"|true, /],
  ["a list for a single value", "gateway:\n  host: [a, b]", 2, /^gateway\.host$/, /one value/],
  ["a value for a section", "retention: 24", 1, /^retention$/, /section, with hours/],
  ["an address of another kind", "client:\n  url: ftp://x", 2, /^client\.url$/, /such as http:/],
  ["a resource without a count", "limits:\n  resources: {gpu: 0}", 2, /resources/, /gpu=0/],
  ["an Editor without a path", "bridges:\n  uloop:\n    - /ok\n    - nonsense", 2, /uloop/, /nonsense/],
  [
    "a class that is not there",
    "tools:\n  bake:\n    execution_class: hours",
    3,
    /^tools\.bake\.execution_class$/,
    /quick, medium, long/,
  ],
  [
    "a misspelt rule",
    "tools:\n  bake:\n    timeout: 1\n    max_execution_tim: 1",
    4,
    /max_execution_tim/,
    /did you mean max_execution_time\?/,
  ],
  ["a time below zero", "editors:\n  Game:\n    timeout: -1", 3, /^editors\.Game\.timeout$/, /at least 0/],
  [
    "a rule that is none",
    "editors:\n  Game:\n    tools:\n      bake: 5",
    4,
    /^editors\.Game\.tools\.bake$/,
    /mapping/,
  ],
  [
    "a fourth class",
    "classes:\n  long: {}\n  longer: {}",
    3,
    /^classes\.longer$/,
    /known: quick, medium, long/,
  ],
  ["a key twice", "log:\n  level: info\n  level: warn", 3, undefined, /^level is there already, in line 2$/],
  ["a section twice", "log: {}\nlimits: {}\nlog: {}", 3, undefined, /^log is there already, in line 1$/],
  [
    "an alias before its anchor",
    "tools:\n  a: *x\n  b: &x {timeout: 1}",
    2,
    undefined,
    /\*x names nothing: &x must stand before it/,
  ],
  ["an alias within its anchor", "tools: &t\n  a: *t", 2, undefined, /\*t is within what it names/],
  ["a merge key", "tools:\n  a: &a {timeout: 1}\n  b:\n    <<: *a", 4, undefined, /no merge keys/],
  ["JSON's own kind of comment", '{\n  // why\n  "log": {}\n}', 2, undefined, /comments begin with #/],
  ["a section's key outside of it", "log.level: info", 1, /^log\.level$/, /write level in the section log/],
  ["a unit", "retention:\n  hours: 2 d", 2, /^retention\.hours$/, /"2 d".*a number, without a unit/],
  ["a unit, deep in a rule", "tools:\n  a:\n    timeout: 5s", 3, /timeout/, /"5s".*without a unit/],
  [
    "no address of a Redis",
    "redis:\n  url: localhost:6379",
    2,
    /^redis\.url$/,
    /it is not a URL such as redis:/,
  ],
  ["an open bracket", "limits:\n  resources: {gpu: 1\nlog: {}", 3, undefined, /./],
  ["a tab", "log:\n\tlevel: info", 2, undefined, /[Tt]ab/],
  ["a list of sections", "- log", 1, undefined, /mapping/],
  ["two documents", "log: {}\n---\nlog: {}", 2, undefined, /a second document begins here/],
  [
    "a trailing comma in the wrong JSON",
    '{"log": {"level": "info"},\n "gateway": {"prot": 1}}',
    2,
    /prot/,
    /port/,
  ],
])("%s is found on its line", (_what, text, line, key, what) => {
  const problems = problemsOf(text);
  const found = problems.find((problem) => problem.line === line && what.test(problem.what));
  expect(found, JSON.stringify(problems)).toMatchObject({ file: path, column: expect.any(Number) });
  if (key) expect(found?.key).toMatch(key);
  else expect(found?.key).toBeUndefined();
});

test("everything that is wrong is reported at once, in the file and beside it", () => {
  const problems = problemsOf("log: {level: loud}\nlimits:\n  running: x\n  nothing: 1", {
    UNITY_BROKER_PORT: "http",
  });
  expect(problems.map(({ file, line, key }) => [file === path, line, key])).toEqual([
    [true, 1, "log.level"],
    [true, 3, "limits.running"],
    [true, 4, "limits.nothing"],
    [false, undefined, "UNITY_BROKER_PORT"],
  ]);
});

test("what is wrong in the file counts also where a variable takes its place", () => {
  expect(problemsOf("log: {level: loud}", { UNITY_BROKER_LOG_LEVEL: "info" })).toMatchObject([{ line: 1 }]);
});

test("whatever the file says, it is read, or its problems are told", () => {
  expect(problemsOf("tools:\n  a: *nothing")).toMatchObject([
    { line: 2, what: expect.stringContaining("nothing") },
  ]);
  const bomb = [
    "a: &a [x, x]",
    ..."bcdefgh".split("").map((name, at) => `${name}: &${name} [${`*${"abcdefg"[at]},`.repeat(9)}]`),
  ];
  expect(problemsOf(bomb.join("\n")).length).toBeGreaterThan(0);
  const word = fc.constantFrom(
    "log",
    "level",
    "tools",
    "gateway",
    ": ",
    "\n",
    "  ",
    "- ",
    "*a",
    "&a",
    "{",
    "}",
    "[",
    "]",
    "'",
    "!x",
    "~",
    "1",
    "#",
    "%",
    "|",
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(word, { maxLength: 30 }).map((words) => words.join("")),
  );
  fc.assert(
    fc.property(text, (written) => void parseConfigFile(written, path)),
    { numRuns: 2_000 },
  );
});

test("a secret that is wrong is not repeated", () => {
  const [problem] = problemsOf("client:\n  token: [a-secret]");
  expect(problem).toMatchObject({ line: 2, key: "client.token" });
  expect(JSON.stringify(problem)).not.toContain("a-secret");
});

test("a file in another encoding, a folder and a file that is no configuration are refused as a whole", () => {
  const utf16 = Buffer.from("\ufefflog: {level: info}\r\n", "utf16le");
  expect(problemsOf(utf16)).toEqual([{ file: path, what: expect.stringContaining("not in UTF-8") }]);
  expect(problemsOf(Buffer.from("\ufefflog: {level: info}\r\n"))).toEqual([]);
  expect(problemsOf(`log: {}\n# ${"x".repeat(2 ** 20)}`)).toEqual([
    { file: path, what: expect.stringContaining("larger than 1 MB") },
  ]);
  expect(configFileOf({ UNITY_BROKER_CONFIG: folder })?.problems).toEqual([{ what: "it is a folder" }]);
});

test("a file of the greatest size is read in the time of its length", () => {
  const rules = Array.from({ length: 30_000 }, (_, n) => `  t${n}: {timeout: 1}`).join("\n");
  const twice = problemsOf(`tools:\n${rules}\n  t7: {}\n`);
  expect(twice.map(({ line, what }) => [line, what])).toEqual([[30_002, "t7 is there already, in line 9"]]);
});

test("aliases that stand for too much are told with the place of the first", () => {
  const [nine, tens] = ["x,".repeat(9), "*a,".repeat(9)];
  const text = `tools:\n  a: &a [${nine}]\n  b: &b [${tens}]\n  c: [${tens.replaceAll("a", "b")}]\n  d: [${tens.replaceAll("a", "b")}]`;
  expect(problemsOf(text)).toMatchObject([{ line: 3, what: expect.stringContaining("too much") }]);
});

test("a file that is not there is a problem", () => {
  const env = { UNITY_BROKER_CONFIG: join(folder, "none.yaml") };
  expect(() => readConfiguration(env)).toThrow(/none\.yaml: there is no such file/);
});

describe("what is right", () => {
  test("numbers, lists and mappings mean what the variables mean; empty means not set", () => {
    const config = read(
      "gateway: {port: 1234, host: ''}\nlimits: {resources: {GPU: 2}}\nbridges: {uloop: [/a, 'x=9']}\nlog:\nmcp: {answers: ~}",
    );
    expect(config).toMatchObject({
      UNITY_BROKER_PORT: 1234,
      UNITY_BROKER_HOST: "127.0.0.1",
      UNITY_BROKER_RESOURCES: { gpu: 2 },
      UNITY_BROKER_EDITORS: [{ project: "/a" }, { name: "x", port: 9 }],
      UNITY_BROKER_ANSWERS: "short",
    });
  });

  test("the example of the documentation is", () => {
    const page = readFileSync(
      new URL("../../../../docs/reference/configuration.md", import.meta.url),
      "utf8",
    );
    const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    expect(problemsOf(example)).toEqual([]);
    expect(read(example).UNITY_BROKER_MAX_RUNNING).toBe(3);
  });

  test("JSON and anchors are YAML", () => {
    expect(read('{"retention": {"hours": 2}}').UNITY_BROKER_RETENTION_HOURS).toBe(2);
    const rules = read("tools:\n  a: &slow {execution_class: long}\n  b: *slow").UNITY_BROKER_TOOL_RULES;
    expect(rules).toEqual({ a: { execution_class: "long" }, b: { execution_class: "long" } });
  });

  test("a relative path is beside the file", () => {
    expect(read("folders: {data: data}").UNITY_BROKER_DATA_DIR).toBe(join(folder, "data"));
  });

  test("the environment precedes the file, the file the default", () => {
    const text = "limits: {queued: 2, in_queue: 2}";
    const env = { UNITY_BROKER_MAX_QUEUED: "3", UNITY_BROKER_MAX_IN_QUEUE: "" };
    expect(read(text, env)).toMatchObject({
      UNITY_BROKER_MAX_QUEUED: 3,
      UNITY_BROKER_MAX_IN_QUEUE: 2,
      UNITY_BROKER_MAX_TOOLS: 1_000,
    });
  });

  test("an environment with a file has its values, where it has none itself", () => {
    writeFileSync(path, "broker: {background: false}\ncalls: {wait_seconds: 3}");
    const env = settingsEnvironment({ UNITY_BROKER_CONFIG: path, UNITY_BROKER_WAIT: "4", HOME: "/h" });
    expect(env).toMatchObject({ UNITY_BROKER_BACKGROUND: "false", UNITY_BROKER_WAIT: "4", HOME: "/h" });
  });
});

describe("--config", () => {
  const ofTests = process.env.UNITY_BROKER_CONFIG;
  afterEach(() => {
    if (ofTests === undefined) delete process.env.UNITY_BROKER_CONFIG;
    else process.env.UNITY_BROKER_CONFIG = ofTests;
  });

  test("is taken from anywhere in front of --, and leaves the rest as it was", () => {
    const typed = ["--config=a.yaml", "run", "x", "--config", "b.yaml", "--key", "k", "--", "--config", "y"];
    expect(takeConfigFile(typed)).toEqual(["run", "x", "--key", "k", "--", "--config", "y"]);
    expect(environment().UNITY_BROKER_CONFIG).toBe(resolve("b.yaml"));
  });

  test.each([[["up", "--config"]], [["--config=", "up"]], [["up", "--config", "--"]]])(
    "%j is refused",
    (typed) => {
      expect(() => takeConfigFile(typed)).toThrow(/needs a value/);
    },
  );
});
