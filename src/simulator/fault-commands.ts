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
const Command = z.discriminatedUnion("do", [
  z.object({ do: z.literal("status") }),
  z.object({ do: z.literal("dropConnections") }),
  z.object({ do: z.literal("reload"), downMs: ms.optional() }),
  z.object({ do: z.literal("crash"), keepUnflushed: z.boolean().optional() }),
  z.object({ do: z.literal("restart") }),
  z.object({ do: z.literal("silence"), ms: ms.optional() }),
  z.object({ do: z.literal("speak") }),
  z.object({ do: z.literal("delayAnswers"), ms }),
  z.object({ do: z.literal("splitFrames"), bytes: z.int().positive().optional() }),
  z.object({ do: z.literal("garbage"), text: z.string().optional() }),
  z.object({ do: z.literal("stallMainThread"), ms }),
  z.object({ do: z.literal("dropNextAnswerOf"), method: z.string() }),
  z.object({ do: z.literal("dropNextRequestOf"), method: z.string() }),
  z.object({ do: z.literal("breakLedger"), broken: z.boolean() }),
  z.object({ do: z.literal("slowDisk"), ms }),
  z.object({ do: z.literal("addTool"), name: z.string().min(1) }),
  z.object({ do: z.literal("removeTool"), name: z.string().min(1) }),
  z.object({ do: z.literal("edit"), failingTests: z.int().nonnegative() }),
  z.object({
    do: z.literal("log"),
    type: z.enum(["Log", "Warning", "Error"]).default("Log"),
    message: z.string(),
  }),
  z.object({ do: z.literal("handOver") }),
  z.object({ do: z.literal("quit") }),
]);
type Command = z.infer<typeof Command>;

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
      const command = parse(line);
      if (typeof command === "string") {
        answer({ ok: false, error: command });
        continue;
      }
      try {
        answer({ ok: true, ...(await obey(deps.editor, command)) });
      } catch (error) {
        answer({ ok: false, error: error instanceof Error ? error.message : String(error) });
      }
      if (command.do === "quit") break;
    }
  };
  return { ended: read(), close: () => lines.close() };
}

function parse(line: string): Command | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "not JSON";
  }
  const parsed = Command.safeParse(value);
  return parsed.success ? parsed.data : z.prettifyError(parsed.error);
}

async function obey(editor: SimulatedEditor, command: Command): Promise<object> {
  const { faults } = editor;
  switch (command.do) {
    case "status":
      return { ...editor.status(), endpoint: editor.endpoint(), executions: editor.counter() };
    case "dropConnections":
      faults.dropConnections();
      return {};
    case "reload":
      await faults.reload(command.downMs);
      return { generation: editor.status().generation };
    case "crash":
      await faults.crash({ keepUnflushed: command.keepUnflushed ?? false });
      return {};
    case "restart":
      await faults.restart();
      return { editorSessionId: editor.status().editorSessionId };
    case "silence":
      faults.silence(command.ms);
      return {};
    case "speak":
      faults.speak();
      return {};
    case "delayAnswers":
      faults.delayAnswers(command.ms);
      return {};
    case "splitFrames":
      faults.splitFrames(command.bytes);
      return {};
    case "garbage":
      faults.garbage(command.text);
      return {};
    case "stallMainThread":
      faults.stallMainThread(command.ms);
      return {};
    case "dropNextAnswerOf":
      faults.dropNextAnswerOf(command.method);
      return {};
    case "dropNextRequestOf":
      faults.dropNextRequestOf(command.method);
      return {};
    case "breakLedger":
      faults.breakLedger(command.broken);
      return {};
    case "slowDisk":
      faults.slowDisk(command.ms);
      return {};
    case "addTool":
      editor.tools.add(echoTool(command.name));
      editor.toolsChanged();
      return {};
    case "removeTool":
      editor.tools.remove(command.name);
      editor.toolsChanged();
      return {};
    case "edit":
      editor.edit(command.failingTests);
      return {};
    case "log":
      editor.log(command.type, command.message);
      return {};
    case "handOver":
      editor.handOver();
      return {};
    case "quit":
      await editor.close();
      return {};
  }
}
