/**
 * An Editor without Unity that runs the C# bridge: EditorHost processes, one after the other, on one port and ledger.
 *
 * `crash` and `restart` are SIGKILL and a new process; every other command goes to the running process.
 */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { editorHostFile } from "./host-build.js";
import { type HostAnswer, type HostProcess, startHost } from "./host-process.js";

export interface EditorHostOptions {
  /** 0: any free port; undefined: the first free one of 8700 to 8799. */
  port?: number;
  projectPath?: string;
  counterFile?: string;
  ledgerFolder?: string;
  endpointFolder: string;
  timeScale: number;
  /** Which pools it is in. */
  labels?: readonly string[];
  /** Tools may be called without the token. */
  plainSurface: boolean;
  say(message: string): void;
}

export interface EditorHost {
  readonly editorId: string;
  readonly port: number;
  /** Obeys commands on `input` until it ends or `quit` arrives. */
  obey(io: { input: Readable; output: Writable }): Promise<void>;
  close(): Promise<void>;
}

/** Starts the first process; rejects with a message that names the missing part. */
export async function startEditorHost(options: EditorHostOptions): Promise<EditorHost> {
  const file = await editorHostFile(options.say);
  const args = (port: number | undefined): string[] => [
    ...given("--port", port),
    ...given("--project", options.projectPath),
    ...given("--counter-file", options.counterFile),
    ...given("--ledger-folder", options.ledgerFolder),
    ...given("--endpoint-folder", options.endpointFolder),
    ...given("--time-scale", options.timeScale),
    ...given("--labels", options.labels?.join(",")),
    ...(options.plainSurface ? ["--plain-surface"] : []),
  ];
  const first = await startHost(file, args(options.port));
  const { editorId, port } = first;
  let living: HostProcess | undefined = first;

  const crash = async (): Promise<HostAnswer> => {
    const dying = living;
    living = undefined;
    await dying?.kill();
    return { ok: true };
  };
  const restart = async (): Promise<HostAnswer> => {
    if (living) return { ok: false, error: "the Editor is running; crash it first" };
    living = await startHost(file, args(port));
    const { editorSessionId } = await living.ask({ do: "status" });
    return { ok: true, editorSessionId };
  };
  const obeyOne = async (line: string): Promise<HostAnswer> => {
    const command = JSON.parse(line) as { do?: string };
    if (command.do === "crash") return crash();
    if (command.do === "restart") return restart();
    if (!living) return { ok: false, error: "the Editor is not running" };
    return living.ask(command);
  };

  return {
    editorId,
    port,
    async obey({ input, output }) {
      for await (const line of createInterface({ input })) {
        if (line.trim() === "") continue;
        const answer = await obeyOne(line).catch((error: Error) => ({ ok: false, error: error.message }));
        output.write(`${JSON.stringify(answer)}\n`);
        if (/"do"\s*:\s*"quit"/.test(line)) break;
      }
    },
    async close() {
      const last = living;
      living = undefined;
      await last?.quit();
    },
  };
}

function given(option: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [option, String(value)];
}
