/**
 * What the kit proves, in its order. `run` answers what was observed and whether that was expected; a step without `standIn`
 * says nothing about Unity unless a real one runs it.
 */
const MENU = "execute-menu-item";
const EDIT_MODE = ["regex", "EditModeTests"];
const PLAY_MODE = ["assembly", "JobBroker.RealEditor.PlayMode"];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const count = (text) => (text ?? "").split("\n").filter(Boolean).length;

/** What a run of tests came to, in one line. */
const summary = ({ code, answer, said }) => {
  const result = answer?.result;
  return result
    ? `${answer.status}: ${result.passed} of ${result.total} passed, ${result.failed} failed`
    : `exit code ${code}: ${answer?.error?.message ?? answer?.message ?? said}`;
};
const hasPassed = ({ answer }, atLeast) =>
  answer?.status === "completed" && answer.result?.failed === 0 && answer.result?.passed >= atLeast;
const refusal = ({ answer, said }) => String(answer?.error?.message ?? answer?.message ?? said);

const tests = (broker, [type, value], mode = "EditMode") =>
  broker.call("run-tests", { TestMode: mode, FilterType: type, FilterValue: value });
const menu = (broker, item, more) => broker.call(MENU, { MenuItemPath: item }, more);

/** Until the bridge answers again, for two minutes at most. */
async function answers(broker) {
  for (let attempt = 0; attempt < 60; attempt++) {
    const { answer } = await broker.call("ping", { Message: "kit" }, ["--timeout", "20"]);
    if (answer?.status === "completed") return true;
    await pause(2000);
  }
  return false;
}

const testRun = (id, title, filter, atLeast, mode) => ({
  id,
  title,
  tools: ["run-tests"],
  expected: `at least ${atLeast} pass, none fails`,
  async run({ broker }) {
    const ran = await tests(broker, filter, mode);
    return { ok: hasPassed(ran, atLeast), observed: summary(ran) };
  },
});

export const STEPS = [
  {
    id: "found",
    title: "The broker finds the Editor by itself",
    expected: "one Editor, connected, of this version",
    standIn: true,
    async run({ broker, editor, version, standIn }) {
      const editors = await broker.editors();
      const own = editors.filter(({ id, connected }) => id === editor.id && connected);
      return {
        ok: own.length === 1 && (standIn || own[0].unity_version === version),
        observed: `${own.length} connected, Unity ${own[0]?.unity_version}`,
      };
    },
  },
  {
    id: "compiles",
    title: "The package and the project compile in this Editor",
    tools: ["compile"],
    expected: "Success: true",
    standIn: true,
    async run({ broker }) {
      const { answer, said } = await broker.call("compile");
      const result = answer?.result;
      return { ok: result?.Success === true, observed: result ? JSON.stringify(result).slice(0, 500) : said };
    },
  },
  testRun(
    "package",
    "The package's own tests for a real Editor pass",
    ["assembly", "JobBroker.Bridge.Editor.Tests"],
    1,
  ),
  testRun("edit-mode", "EditMode tests of the project pass", EDIT_MODE, 3),
  {
    id: "twice",
    title: "Two runs in a row are two runs",
    tools: ["run-tests"],
    expected: "both complete, the second is no replay",
    standIn: true,
    async run({ broker }) {
      const runs = [await broker.call("run-tests"), await broker.call("run-tests")];
      const ids = new Set(runs.map(({ answer }) => answer?.log_id));
      const ok =
        runs.every(({ answer }) => answer?.status === "completed") &&
        ids.size === 2 &&
        runs[1].answer?.deduplicated === undefined;
      return { ok, observed: runs.map(summary).join("; ") };
    },
  },
  {
    id: "timeout",
    title: "A call whose wait ends at once, sent three times under its key, is one operation",
    tools: ["run-tests"],
    expected: "one log_id, and its outcome",
    standIn: true,
    async run({ broker }) {
      const key = ["--key", `kit-${Date.now()}`];
      const calls = [];
      for (let time = 0; time < 2; time++)
        calls.push(await broker.call("run-tests", {}, [...key, "--timeout", "0"]));
      calls.push(await broker.call("run-tests", {}, [...key, "--follow"]));
      const ids = new Set(calls.map(({ answer }) => answer?.log_id));
      const statuses = calls.map(({ answer }) => answer?.status);
      return {
        ok: ids.size === 1 && statuses[2] === "completed",
        observed: `${statuses.join(", ")}: ${ids.size} log_id`,
      };
    },
  },
  {
    id: "once",
    title: "A menu item that is called three times while it runs, runs once",
    tools: [MENU],
    expected: "one log_id, counted once",
    async run({ broker, project }) {
      project.remove("Temp/kit-count");
      const calls = [];
      for (let time = 0; time < 3; time++)
        calls.push(await menu(broker, "Kit/Count Slowly", ["--timeout", "0.3"]));
      const { answer } = await broker.type(
        ["result", calls[0].answer?.log_id ?? "", "--follow", "--json"],
        120_000,
      );
      const ids = new Set(calls.map((call) => call.answer?.log_id));
      const counted = count(project.read("Temp/kit-count"));
      return {
        ok: ids.size === 1 && counted === 1,
        observed: `${ids.size} log_id, counted ${counted}, ${answer?.status}`,
      };
    },
  },
  testRun(
    "reload-in-run",
    "A test run goes on over a domain reload in its middle",
    ["regex", "ReloadTests"],
    3,
  ),
  {
    id: "reload",
    title: "After a domain reload the same Editor answers again",
    tools: [MENU],
    expected: "it answers, as the same process",
    async run({ broker, editor }) {
      const asked = await menu(broker, "Kit/Reload");
      const again = await answers(broker);
      const pids = (await broker.editors()).filter(({ id }) => id === editor.id).map(({ pid }) => pid);
      const ok = asked.answer?.status === "completed" && again && pids.every((pid) => pid === editor.pid);
      return {
        ok,
        observed: `${asked.answer?.status}; ${again ? "answers" : "silent"}; process kept: ${pids[0] === editor.pid}`,
      };
    },
  },
  {
    id: "changed-script",
    title: "Edit a script, compile, and the new code runs",
    tools: ["compile", MENU],
    expected: "the number of the edited script",
    async run({ broker, project }) {
      const file = "Assets/Scripts/ChangedScript.cs";
      const number = 1000 + Math.floor(Math.random() * 9000);
      project.write(file, project.read(file).replace(/Number = \d+/, `Number = ${number}`));
      const compiled = await broker.call("compile");
      await answers(broker);
      const wrote = await menu(broker, "Kit/Write Number");
      const seen = project.read("Temp/kit-number");
      return {
        ok: compiled.answer?.result?.Success === true && Number(seen) === number,
        observed: `compile ${compiled.answer?.status}, menu item ${wrote.answer?.status}, wrote ${number}, ran ${seen}`,
      };
    },
  },
  {
    id: "compile-errors",
    title: "While scripts do not compile, tests are refused with the compiler's words",
    tools: ["compile", "run-tests"],
    expected: "compile reports the file; run-tests runs no old code; both work when it is mended",
    async run({ broker, project }) {
      project.write("Assets/Scripts/Broken.cs", "public class Broken { int x = nothing; }\n");
      const broken = await broker.call("compile");
      const refused = await tests(broker, EDIT_MODE);
      project.remove("Assets/Scripts/Broken.cs");
      project.remove("Assets/Scripts/Broken.cs.meta");
      const mended = await broker.call("compile");
      await answers(broker);
      const ran = refused.answer?.status === "completed" && refused.answer.result?.total > 0;
      return {
        ok:
          JSON.stringify(broken.answer ?? "").includes("Broken.cs") &&
          !ran &&
          mended.answer?.result?.Success === true,
        observed: `compile: Success ${broken.answer?.result?.Success}; run-tests: ${refusal(refused).slice(0, 300)}; mended: Success ${mended.answer?.result?.Success}`,
      };
    },
  },
  {
    id: "logs",
    title: "The Console's lines outlive a domain reload",
    tools: [MENU, "get-logs"],
    expected: "the line from before the reload is there, once",
    async run({ broker }) {
      await broker.call("clear-console");
      await menu(broker, "Kit/Log Before A Reload");
      await menu(broker, "Kit/Reload");
      await pause(2000);
      await answers(broker);
      const { answer } = await broker.call("get-logs", { SearchText: "a line from before the reload" });
      const lines = answer?.result?.Logs ?? answer?.result?.logs ?? [];
      return { ok: lines.length === 1, observed: `${lines.length} lines` };
    },
  },
  testRun("play-mode", "PlayMode tests of the project pass", PLAY_MODE, 2, "PlayMode"),
];

export const tools = { answers, hasPassed, menu, pause, PLAY_MODE, refusal, summary, tests };
