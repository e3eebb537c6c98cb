/**
 * `./prove <Unity version> [--only batch|window] [--unity <path>] [--report <file>] [--folder <path>] [--stand-in]`
 *
 * Exit code 0: everything that was proven is as expected; 1: something is not; 2: it did not begin.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createBroker } from "./broker.mjs";
import { openEditor, prepareProject } from "./editor.mjs";
import { EDITOR_STEPS } from "./editor-steps.mjs";
import { bridgeLines, machine, writeReport } from "./report.mjs";
import { STEPS } from "./steps.mjs";

const KIT = fileURLToPath(new URL("..", import.meta.url));
const USAGE =
  "prove <Unity version, for example 2022.3.40f1> [--only batch|window] [--unity <path>] [--report <file>] [--folder <path>]";
/** A person switches the permissions on meanwhile. */
const PERMISSION_MS = 10 * 60_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    unity: { type: "string", default: process.env.UNITY_EDITOR },
    report: { type: "string" },
    // Where the copy of the project goes; beside the kit's own if left out.
    folder: { type: "string" },
    // A stand-in answers in place of Unity: what only Unity can show is not proven.
    "stand-in": { type: "boolean", default: false },
  },
});
const [version] = positionals;
const standIn = values["stand-in"];
if (
  version === undefined ||
  !/^[\w.]+$/.test(version) ||
  ![undefined, "batch", "window"].includes(values.only)
) {
  console.error(`Usage: ${USAGE}`);
  process.exit(2);
}

const say = (text) => console.log(text);
const project = prepareProject(version, values.folder);
const broker = createBroker(project.path);
const modes = [];
const startedAt = new Date();
try {
  for (const mode of values.only === undefined ? ["batch", "window"] : [values.only])
    modes.push(await play(mode));
} finally {
  await broker.close();
}

const report = values.report ?? join(KIT, `report-${version}-${startedAt.toISOString().slice(0, 10)}.md`);
const facts = {
  unity: version,
  package: JSON.parse(readFileSync(join(KIT, "..", "package.json"), "utf8")).version,
  broker: broker.version,
  testFramework:
    JSON.parse(project.read("Packages/packages-lock.json") ?? "{}").dependencies?.["com.unity.test-framework"]
      ?.version ?? "unknown",
  ...machine(),
  begun: startedAt.toISOString(),
  standIn,
  modes,
};
writeFileSync(report, writeReport(facts, broker.editorsFolder));
const all = modes.flatMap(({ steps }) => steps);
const ended = (status) => all.filter((step) => step.status === status).length;
const begun = modes.every(({ problem }) => problem === undefined);
say(
  `\n${ended("proven")} as expected, ${ended("failed")} not, ${ended("not_offered")} not offered, ${ended("not_proven_here")} not proven here.`,
);
say(`The report: ${relative(process.cwd(), report)}`);
process.exitCode = !begun ? 2 : ended("failed") === 0 ? 0 : 1;

/** All steps of a mode, in one Editor. */
async function play(mode) {
  say(
    `\n${mode === "batch" ? "Batch mode" : "With windows"}: opening the project in Unity ${version}. The first import takes minutes.`,
  );
  const steps = [];
  let editor;
  try {
    editor = await openEditor(broker, project, mode, values.unity);
    if (mode === "window" && !standIn) await permission();
  } catch (error) {
    say(`It did not begin: ${error.message}`);
    await editor?.end(false);
    return { mode, problem: error.message, steps, log: bridgeLines(editor?.log() ?? "") };
  }
  const offered = await broker.tools();
  for (const step of [...STEPS, ...EDITOR_STEPS]) {
    if (step.modes !== undefined && !step.modes.includes(mode)) continue;
    const { id, title, expected } = step;
    const outcome = await tried(step, offered, { broker, editor, project, version, standIn });
    steps.push({ id, title, expected, ...outcome });
    say(`  ${outcome.status.padEnd(16)} ${title}${outcome.observed ? `: ${outcome.observed}` : ""}`);
  }
  const quit = await editor.end(!standIn);
  const observed = quit ? "it ended" : "it was ended by a signal";
  const status = standIn ? "not_proven_here" : quit ? "proven" : "failed";
  steps.push({
    id: "quits",
    title: "The Editor quits by itself",
    expected: "it ends within two minutes",
    status,
    observed,
  });
  return { mode, steps, log: bridgeLines(editor.log()) };
}

async function tried(step, offered, context) {
  const missing = (step.tools ?? []).filter((tool) => !offered.includes(tool));
  if (missing.length > 0) return { status: "not_offered", observed: missing.join(", ") };
  if (standIn && !step.standIn) return { status: "not_proven_here" };
  const begunAt = performance.now();
  try {
    const { ok, observed } = await step.run(context);
    return {
      status: ok ? "proven" : "failed",
      observed,
      seconds: Math.round((performance.now() - begunAt) / 1000),
    };
  } catch (error) {
    return { status: "failed", observed: `the step failed: ${error.message}` };
  }
}

/** Until tests, menu items and code may run: only a person can switch that on in a window. */
async function permission() {
  say(
    "In Unity: open Window > Unity Job Broker, and switch on tests, menu items, play mode and scenes. The kit waits for it.",
  );
  const until = performance.now() + PERMISSION_MS;
  while (performance.now() < until) {
    const { answer, said } = await broker.call("execute-menu-item", { MenuItemPath: "Kit/Write Number" });
    const test = await broker.call("run-tests", { FilterType: "exact", FilterValue: "none" });
    const isBlocked = [JSON.stringify(answer ?? ""), said, JSON.stringify(test.answer ?? ""), test.said].some(
      (text) => /is blocked|security_blocked|SECURITY/.test(text),
    );
    if (!isBlocked) return;
    await new Promise((resolve) => setTimeout(resolve, 3000));
  }
  throw new Error("Nobody switched on tests and menu items in Window > Unity Job Broker within ten minutes.");
}
