/**
 * The faults, as commands from other processes: one JSON object per line in, one per line out, in order.
 *
 * `{"do":"reload","downMs":100}` → `{"ok":true}`; a refused or unknown command → `{"ok":false,"error":"…"}`.
 */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import type { SimulatedEditor } from "./editor.js";
import { echoTool } from "./tools/short.js";

const ms = z.number().nonnegative();
const method = z.string();
const name = z.string().min(1);

type Obey = (editor: SimulatedEditor, given: unknown) => unknown;

/** `act`: what it answers, if anything, stands beside `ok`. */
function command<Shape extends z.ZodRawShape>(
  shape: Shape,
  act: (editor: SimulatedEditor, given: z.infer<z.ZodObject<Shape>>) => unknown,
): Obey {
  const schema = z.object(shape);
  return (editor, given) => act(editor, schema.parse(given));
}

const COMMANDS: Readonly<Record<string, Obey>> = {
  status: command({}, (editor) => ({
    ...editor.status(),
    endpoint: editor.endpoint(),
    executions: editor.counter(),
  })),
  dropConnections: command({}, ({ faults }) => faults.dropConnections()),
  reload: command({ downMs: ms.optional() }, async (editor, { downMs }) => {
    await editor.faults.reload(downMs);
    return { generation: editor.status().generation };
  }),
  crash: command({ keepUnflushed: z.boolean().default(false) }, ({ faults }, how) => faults.crash(how)),
  restart: command({}, async (editor) => {
    await editor.faults.restart();
    return { editorSessionId: editor.status().editorSessionId };
  }),
  silence: command({ ms: ms.optional() }, ({ faults }, given) => faults.silence(given.ms)),
  speak: command({}, ({ faults }) => faults.speak()),
  delayAnswers: command({ ms }, ({ faults }, given) => faults.delayAnswers(given.ms)),
  splitFrames: command({ bytes: z.int().positive().optional() }, ({ faults }, { bytes }) =>
    faults.splitFrames(bytes),
  ),
  garbage: command({ text: z.string().optional() }, ({ faults }, { text }) => faults.garbage(text)),
  stallMainThread: command({ ms }, ({ faults }, given) => faults.stallMainThread(given.ms)),
  dropNextAnswerOf: command({ method }, ({ faults }, given) => faults.dropNextAnswerOf(given.method)),
  dropNextRequestOf: command({ method }, ({ faults }, given) => faults.dropNextRequestOf(given.method)),
  breakLedger: command({ broken: z.boolean() }, ({ faults }, { broken }) => faults.breakLedger(broken)),
  slowDisk: command({ ms }, ({ faults }, given) => faults.slowDisk(given.ms)),
  addTool: command({ name }, (editor, given) => {
    editor.tools.add(echoTool(given.name));
    editor.toolsChanged();
  }),
  removeTool: command({ name }, (editor, given) => {
    editor.tools.remove(given.name);
    editor.toolsChanged();
  }),
  edit: command({ failingTests: z.int().nonnegative() }, (editor, given) => editor.edit(given.failingTests)),
  log: command(
    { type: z.enum(["Log", "Warning", "Error"]).default("Log"), message: z.string() },
    (editor, { type, message }) => editor.log(type, message),
  ),
  handOver: command({}, (editor) => editor.handOver()),
  quit: command({}, (editor) => editor.close()),
};

/** Obeys commands on `input` until it ends; `ended` settles then, or after `quit`. The caller closes the editor. */
export function createControl(
  deps: { editor: SimulatedEditor },
  options: { input: Readable; output: Writable },
): { ended: Promise<void>; close(): void } {
  const lines = createInterface({ input: options.input });
  const answer = (value: object): void => void options.output.write(`${JSON.stringify(value)}\n`);

  const read = async (): Promise<void> => {
    for await (const line of lines) {
      if (line.trim() === "") continue;
      const given = parse(line);
      const obey = given && Object.hasOwn(COMMANDS, given.do) ? COMMANDS[given.do] : undefined;
      try {
        if (!obey) throw new Error(given ? `unknown: ${given.do}` : "not JSON");
        answer({ ok: true, ...((await obey(deps.editor, given)) as object | undefined) });
      } catch (error) {
        const said = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
        answer({ ok: false, error: said });
      }
      if (given?.do === "quit") break;
    }
  };
  return { ended: read(), close: () => lines.close() };
}

function parse(line: string): { do: string } | undefined {
  try {
    const value = JSON.parse(line) as { do?: unknown } | null;
    return { ...value, do: String(value?.do) };
  } catch {
    return undefined;
  }
}
