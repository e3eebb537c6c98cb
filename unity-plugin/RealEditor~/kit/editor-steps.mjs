/** More of the same (steps.mjs): scenes, play mode, other processes, the window. */
import { tools } from "./steps.mjs";

const { answers, hasPassed, menu, pause, PLAY_MODE, refusal, summary, tests } = tools;
const MENU = "execute-menu-item";
const PROFILER = "Window/Analysis/Profiler (Standalone Process)";

/** How many Editors the broker knows for this one's project, and whether it is still this process. */
async function standing(broker, editor) {
  const own = (await broker.editors()).filter(({ id, connected }) => id === editor.id && connected);
  return {
    ok: own.length === 1 && own[0].pid === editor.pid,
    observed: `${own.length} connected, process kept: ${own[0]?.pid === editor.pid}`,
  };
}

const statusOf = ({ answer, said }) =>
  answer?.status === "completed"
    ? "completed"
    : `${answer?.status ?? "refused"} (${refusal({ answer, said }).slice(0, 200)})`;

/** Calls one tool after the other; all must complete. */
async function inTurn(broker, calls) {
  const observed = [];
  let ok = true;
  for (const [tool, args] of calls) {
    const call = await broker.call(tool, args);
    ok &&= call.answer?.status === "completed" && call.answer.result?.Success !== false;
    observed.push(`${tool}: ${statusOf(call)}`);
  }
  return { ok, observed: observed.join("; ") };
}

export const EDITOR_STEPS = [
  {
    id: "dirty-scene",
    title: "A changed scene opens no dialog: the tests are refused, and the Editor goes on answering",
    tools: [MENU, "run-tests"],
    expected: "run-tests ends with a refusal or runs; no call hangs",
    async run({ broker }) {
      await menu(broker, "Kit/Open A Saved Scene");
      const changed = await menu(broker, "Kit/Change The Scene");
      const ran = await tests(broker, PLAY_MODE, "PlayMode");
      const alive = await answers(broker);
      await menu(broker, "Kit/Open A Saved Scene");
      const ended = ran.code !== null && (hasPassed(ran, 1) || /scene/i.test(refusal(ran)));
      return {
        ok: changed.answer?.status === "completed" && ended && alive,
        observed: `changed: ${statusOf(changed)}; ${summary(ran).slice(0, 300)}; ${alive ? "answers" : "silent"}`,
      };
    },
  },
  {
    id: "state",
    title: "The Editor's state is read",
    tools: ["get-editor-state"],
    expected: "completed",
    run: ({ broker }) => inTurn(broker, [["get-editor-state", {}]]),
  },
  {
    id: "scenes",
    title: "A scene is made, filled, saved and opened again",
    tools: [
      "create-scene",
      "create-game-object",
      "modify-game-object",
      "add-component",
      "modify-component",
      "save-scene",
      "open-scene",
      "get-hierarchy",
    ],
    expected: "each completes; the object is in the opened scene",
    async run({ broker }) {
      const made = await inTurn(broker, [
        ["create-scene", { Path: "Assets/Made.unity" }],
        ["create-game-object", { Name: "Made", Primitive: "Cube" }],
        ["modify-game-object", { Target: "Made", Position: [1, 2, 3] }],
        ["add-component", { Target: "Made", Component: "Rigidbody" }],
        ["modify-component", { Target: "Made", Component: "Rigidbody", Properties: { mass: 2 } }],
        ["save-scene", {}],
        ["open-scene", { Path: "Assets/Made.unity" }],
      ]);
      const { answer } = await broker.call("get-hierarchy");
      const isThere = JSON.stringify(answer?.result ?? "").includes('"Made"');
      return { ok: made.ok && isThere, observed: `${made.observed}; in the hierarchy: ${isThere}` };
    },
  },
  {
    id: "play",
    title: "Play mode is entered and left",
    tools: ["control-play-mode"],
    expected: "each completes, and the Editor answers in between",
    async run({ broker }) {
      const entered = await inTurn(broker, [["control-play-mode", { Action: "Enter" }]]);
      const playing = await broker.call("control-play-mode", { Action: "State" });
      const left = await inTurn(broker, [["control-play-mode", { Action: "Exit" }]]);
      const alive = await answers(broker);
      return {
        ok: entered.ok && /^playing$/i.test(playing.answer?.result?.State) && left.ok && alive,
        observed: `${entered.observed}; ${JSON.stringify(playing.answer?.result ?? statusOf(playing))}; ${left.observed}`,
      };
    },
  },
  {
    id: "second-process",
    title: "A second Unity for the same project takes nothing over",
    tools: [MENU],
    expected: "the first stays the project's Editor",
    async run({ broker, editor, project }) {
      project.remove("Temp/kit-second");
      const started = await menu(broker, "Kit/Start A Second Process");
      const { ok, observed } = await standing(broker, editor);
      const alive = await answers(broker);
      return {
        ok: started.answer?.status === "completed" && ok && alive,
        observed: `${statusOf(started)}; the second ended with ${project.read("Temp/kit-second")}; ${observed}`,
      };
    },
  },
  {
    id: "profiler",
    title: "The Profiler's own process has no bridge",
    modes: ["window"],
    tools: [MENU],
    expected: "the first stays the project's Editor",
    async run({ broker, editor }) {
      const opened = await menu(broker, PROFILER);
      await pause(15_000);
      const { ok, observed } = await standing(broker, editor);
      return {
        ok: ok && opened.answer?.status === "completed",
        observed: `${statusOf(opened)}; ${observed}`,
      };
    },
  },
  {
    id: "window",
    title: "The bridge's window opens without an error",
    modes: ["window"],
    tools: [MENU, "get-logs"],
    expected: "no error in the Console",
    async run({ broker }) {
      await broker.call("clear-console");
      const opened = await menu(broker, "Window/Unity Job Broker");
      await pause(3000);
      const { answer } = await broker.call("get-logs", { LogType: "Error" });
      const errors = answer?.result?.Logs ?? answer?.result?.logs ?? [];
      return {
        ok: opened.answer?.status === "completed" && errors.length === 0,
        observed: `${statusOf(opened)}; ${errors.length} errors`,
      };
    },
  },
  {
    id: "screenshot",
    title: "A screenshot of the Game view is an image",
    modes: ["window"],
    tools: ["capture-screenshot"],
    expected: "completed, with an image",
    async run({ broker }) {
      const shot = await broker.call("capture-screenshot", { View: "Game" });
      const text = JSON.stringify(shot.answer ?? "");
      return {
        ok: shot.answer?.status === "completed" && shot.answer.result?.Width > 0 && /png|image/i.test(text),
        observed: `${statusOf(shot)}, ${text.length} characters`,
      };
    },
  },
  {
    id: "unfocused",
    title: "An Editor that is not in front runs calls at once",
    modes: ["window"],
    tools: ["get-hierarchy"],
    expected: "each of ten calls ends within 5 s",
    async run({ broker }) {
      const times = [];
      for (let time = 0; time < 10; time++) times.push(Math.round((await broker.call("get-hierarchy")).ms));
      return {
        ok: Math.max(...times) < 5000,
        observed: `${times.join(", ")} ms, with the start of each command`,
      };
    },
  },
];
