/** The control channel of a simulated Editor's process, whichever engine plays it (src/simulator/fault-commands.ts). */
import type { Processes, RunningProcess } from "../processes/processes.js";

/** The simulator, or the C# bridge in its host process. */
export type Engine = "typescript" | "dotnet";

export interface ControlledEditor {
  readonly process: RunningProcess;
  readonly editorId: string;
  readonly port: number;
  /** Answers come in the order of the commands; rejects with what the Editor refused it for. */
  do(command: { do: string; [parameter: string]: unknown }): Promise<Record<string, unknown>>;
}

/** Starts `unity-broker simulate --control` and settles when the Editor listens. */
export async function startControlledEditor(
  processes: Processes,
  engine: Engine,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ControlledEditor> {
  const command = ["simulate", "--control", "--engine", engine, "--port", "0", ...args];
  const editor = processes.start(`editor (${engine})`, command, env);
  const [ready] = await editor.line(/^\{"ready":true.*$/);
  const { editorId, port } = JSON.parse(ready) as { editorId: string; port: number };
  const asked: { resolve(answer: Record<string, unknown>): void; reject(error: Error): void }[] = [];
  editor.onLine((line) => {
    const answer = JSON.parse(line) as { ok?: boolean; error?: string };
    if (answer.ok === true) asked.shift()?.resolve(answer);
    else if (answer.ok === false) asked.shift()?.reject(new Error(answer.error));
  });
  return {
    process: editor,
    editorId,
    port,
    do: (what) =>
      new Promise((resolve, reject) => {
        asked.push({ resolve, reject });
        editor.write(`${JSON.stringify(what)}\n`);
      }),
  };
}
