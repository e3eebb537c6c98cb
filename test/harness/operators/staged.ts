/** Something to look at: Editors at work, a queue, and an operation that was called six times. */

import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import { restClient } from "../rest/rest-client.js";
import type { Bench } from "../system/bench.js";
import { eventually } from "../system/system.js";
import type { TokenGateway } from "../system/token-gateway.js";

export interface Staged {
  /** Of the operator. */
  token: string;
  /** Called six times, and run once. */
  sixTimes: string;
  /** Runs, and has reported progress. */
  running: string;
  /** Waits behind it. */
  waiting: string;
  failed: string;
  /** The others' Editors, the first of them runs nothing. */
  editors: SimulatedEditor[];
}

/** What the tools of the bench are called there. */
export const BENCH_NAMES = { work: "work", cancellable: "work-cancellable", look: "look", put: "put" };

/** `projects`: of further Editors. `bench`: whose tools the first Editor has, under which names. */
export async function stage(
  served: TokenGateway,
  projects: readonly string[] = [],
  { bench, names }: { bench: Bench; names: typeof BENCH_NAMES } = {
    bench: served.system.bench,
    names: BENCH_NAMES,
  },
): Promise<Staged> {
  const { system, tokens, origin } = served;
  const token = await tokens.create("olivia", { role: "admin" });
  const editors: SimulatedEditor[] = [];
  for (const project of projects) {
    const editor = await system.addEditor({ projectPath: `/projects/${project}` });
    await system.present(editor);
    editors.push(editor);
  }
  const as = (client: string) =>
    restClient(origin, { authorization: `Bearer ${token}`, "x-client-id": client });
  const { editorId: editor } = system.editor;
  const build = { tool: names.work, arguments: { Name: "build", Hold: true }, editor, timeout: 0 };
  const callers = ["claude-code", "claude-code", "claude-code", "cursor", "cursor", "ci-pipeline"];
  let sixTimes = "";
  for (const client of callers) {
    sixTimes = (await as(client).post("/operations", build)).body.log_id;
    await bench.begins("build");
  }
  bench.report("build", { progress: 60, total: 100, message: "Building" });
  bench.finish("build");
  for (const client of new Set(callers)) await as(client).get(`/operations/${sixTimes}?wait=30`);

  const failing = as("cursor").post("/operations", {
    tool: names.cancellable,
    arguments: { Name: "red", Hold: true },
    editor,
    timeout: 30,
  });
  await bench.begins("red");
  bench.fail("red", "3 tests failed");
  const failed = (await failing).body.log_id;
  for (const name of ["a", "b", "c"]) await as("ci-pipeline").call(names.look, { Name: name }, { editor });

  const running = (
    await as("claude-code").post("/operations", {
      tool: names.cancellable,
      arguments: { Name: "tests", Hold: true },
      editor,
      timeout: 0,
    })
  ).body.log_id;
  await bench.begins("tests");
  bench.report("tests", { progress: 42, total: 100, message: "PlayMode tests" });
  const waiting = (
    await as("cursor").post("/operations", {
      tool: names.put,
      arguments: { Name: "next" },
      editor,
      timeout: 0,
    })
  ).body.log_id;
  await eventually(
    async () => (await system.store.operations.find(sixTimes))?.state === "completed",
    "the build is known to have ended",
  );
  return { token, sixTimes, running, waiting, failed, editors };
}
