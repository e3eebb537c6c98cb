/** `unity-broker simulate`: a Unity Editor without Unity, to try the broker and to test against. */
import { createControl } from "../simulator/control.js";
import { createSimulatedEditor } from "../simulator/editor.js";
import { portOf } from "./address.js";
import { command, UsageError } from "./command.js";
import { readSettings } from "./runtime.js";
import { stopRequested } from "./stop.js";

export const simulate = command({
  meta: { name: "simulate", description: "A simulated Unity Editor: real TCP, no Unity" },
  args: {
    port: { type: "string", description: "Port to listen on (default: the first free one from 8700)" },
    project: { type: "string", description: "Path that names the project; need not exist" },
    "counter-file": { type: "string", description: "File that gets a line for every execution that begins" },
    "ledger-folder": { type: "string", description: "Where the Editor's ledger is kept" },
    "time-scale": { type: "string", description: "Multiplies every duration of a tool" },
    plain: { type: "boolean", description: "Play an Editor with a plain uLoop bridge", default: false },
    control: {
      type: "boolean",
      description: "Obey fault commands on stdin, a JSON object a line",
      default: false,
    },
  },
  async run({ args }) {
    const stopping = stopRequested();
    const timeScale = Number(args["time-scale"] ?? 1);
    if (!(timeScale >= 0)) throw new UsageError(`--time-scale ${args["time-scale"]} is not a number from 0`);
    const editor = await createSimulatedEditor({
      endpointFolder: readSettings().editorsFolder,
      timeScale,
      plain: args.plain,
      ...(args.port === undefined ? {} : { port: portOf(args.port) }),
      ...(args.project === undefined ? {} : { projectPath: args.project }),
      ...(args["counter-file"] === undefined ? {} : { counterFile: args["counter-file"] }),
      ...(args["ledger-folder"] === undefined ? {} : { ledgerFolder: args["ledger-folder"] }),
    });
    const control = args.control
      ? createControl({ editor }, { input: process.stdin, output: process.stdout })
      : undefined;
    const { editorId, port } = editor;
    console.log(
      args.control
        ? JSON.stringify({ ready: true, editorId, port })
        : `Simulated Unity Editor ${editorId} on port ${port}`,
    );
    if (args.plain && !args.control) {
      console.log(`Brokers find it by its name only: UNITY_BROKER_EDITORS=simulated=127.0.0.1:${port}`);
    }
    await Promise.race([stopping, control?.ended ?? stopping]);
    control?.close();
    await editor.close();
  },
});
