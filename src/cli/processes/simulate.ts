/** `unity-broker simulate`: a Unity Editor without Unity, to try the broker and to test against. */
import { type EditorHost, startEditorHost } from "../../editor-host/editor-host.js";
import { isLabel } from "../../shared/editors/target.js";
import { createSimulatedEditor } from "../../simulator/editor.js";
import { createControl } from "../../simulator/fault-commands.js";
import { portOf } from "../address.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/processes.js";
import { ownFolders, readSettings } from "./settings.js";
import { stopRequested } from "./stop.js";

export const simulate: Run<typeof declared.simulate> = async ({ args }) => {
  const stopping = stopRequested();
  const timeScale = Number(args["time-scale"] ?? 1);
  if (!(timeScale >= 0)) throw new UsageError(`--time-scale ${args["time-scale"]} is not a number from 0`);
  if (args.plain && args.engine === "dotnet")
    throw new UsageError("--plain is of the typescript engine only");
  const settings = readSettings();
  ownFolders(settings);
  const options = {
    endpointFolder: settings.editorsFolder,
    timeScale,
    plain: args.plain,
    plainSurface: args["plain-surface"],
    ...(args.labels === undefined ? {} : { labels: labelsIn(args.labels) }),
    ...(args.port === undefined ? {} : { port: portOf(args.port) }),
    ...(args.project === undefined ? {} : { projectPath: args.project }),
    ...(args["counter-file"] === undefined ? {} : { counterFile: args["counter-file"] }),
    ...(args["ledger-folder"] === undefined ? {} : { ledgerFolder: args["ledger-folder"] }),
  };
  const editor = await engineOf(args.engine)(options);
  const { editorId, port } = editor;
  console.log(
    args.control
      ? JSON.stringify({ ready: true, editorId, port })
      : `Simulated Unity Editor ${editorId} on port ${port}`,
  );
  if (args.plain && !args.control) {
    console.log(`Brokers find it by its name only: UNITY_BROKER_EDITORS=simulated=127.0.0.1:${port}`);
  }
  const obeyed = args.control ? editor.obey({ input: process.stdin, output: process.stdout }) : stopping;
  await Promise.race([stopping, obeyed]);
  await editor.close();
};

function labelsIn(text: string): string[] {
  const labels = text.split(",").map((label) => label.trim());
  const wrong = labels.find((label) => !isLabel(label.toLowerCase()));
  if (wrong !== undefined)
    throw new UsageError(`--labels ${wrong} is no label: it has letters, digits, ".", "_", "-", and one "="`);
  return labels;
}

interface SimulateOptions {
  endpointFolder: string;
  timeScale: number;
  plain: boolean;
  plainSurface: boolean;
  labels?: string[];
  port?: number;
  projectPath?: string;
  counterFile?: string;
  ledgerFolder?: string;
}

function engineOf(name: string): (options: SimulateOptions) => Promise<EditorHost> {
  if (name === "dotnet") {
    return ({ plain: _plain, ...options }) =>
      startEditorHost({ ...options, say: (message) => console.error(message) });
  }
  if (name === "typescript") return startSimulator;
  throw new UsageError(`--engine ${name} is neither typescript nor dotnet`);
}

async function startSimulator(options: SimulateOptions): Promise<EditorHost> {
  const editor = await createSimulatedEditor(options);
  let control: { close(): void } | undefined;
  return {
    editorId: editor.editorId,
    port: editor.port,
    obey(io) {
      const obeying = createControl({ editor }, io);
      control = obeying;
      return obeying.ended;
    },
    async close() {
      control?.close();
      await editor.close();
    },
  };
}
