/** One Editor of a chaos run: a process that is killed and started again, behind cables of the test's own. */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createCounterFile } from "../../../src/simulator/ledger/counter-file.js";
import {
  type ControlledEditor,
  type Engine,
  startControlledEditor,
} from "../../harness/editor/editor-control.js";
import { type Processes, until } from "../../harness/processes/processes.js";
import { type Cable, layCable } from "../../harness/system/cable.js";
import type { Witness } from "./judge/witness.js";

export interface ChaosEditor {
  readonly name: string;
  readonly engine: Engine;
  /** No ledger: the workers' own sent.log is all there is. */
  readonly plain: boolean;
  /** As the broker calls it. */
  readonly id: string;
  /** One for each worker; a plain Editor is known by its address, so that all workers share one. */
  readonly cables: readonly Cable[];
  readonly isRunning: boolean;
  /** Rejects when the Editor is gone, or says no. */
  do(command: { do: string; [parameter: string]: unknown }): Promise<Record<string, unknown>>;
  /** Resolves when something runs there, at the latest after this time. */
  busy(limitMs: number): Promise<void>;
  /** Of the process that holds its port. */
  pid(): Promise<number>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** The machine loses its power: what was not flushed is lost. Only the simulator tells the difference. */
  crash(): Promise<void>;
  /** As a user ends it. */
  quit(): Promise<void>;
  /** The next Editor of this project, on the same port; nothing when one runs. */
  start(): Promise<void>;
  /** Every execution that ever began, by the Editor's own account. */
  executions(): { operationId: string; what: string; at: number }[];
  /** Only while nothing is open there; resolves without a copy when it is busy. */
  copyLedger(): Promise<void>;
  ledgerCopies(): readonly string[];
  /** They are older than something that they must not be older than. */
  forgetLedgerCopies(): void;
  /** Only while it does not run. Undefined: the ledger is gone. */
  restoreLedger(copy: string | undefined): void;
  close(): Promise<void>;
}

export interface ChaosEditorOptions {
  name: string;
  engine: Engine;
  plain: boolean;
  folder: string;
  env: NodeJS.ProcessEnv;
  /** How many workers come by a cable of their own. */
  cables: number;
}

const MOST_COPIES = 4;

export async function startChaosEditor(
  processes: Processes,
  witness: Witness,
  options: ChaosEditorOptions,
): Promise<ChaosEditor> {
  const { name, engine, plain, env } = options;
  const folder = join(options.folder, name);
  const ledger = join(folder, "ledger");
  mkdirSync(folder, { recursive: true });
  const counter = createCounterFile(join(folder, "executions.log"));
  const args = [
    ...["--project", join(folder, name), "--counter-file", counter.file, "--ledger-folder", ledger],
    ...(plain ? ["--plain"] : []),
  ];
  const copies: string[] = [];
  const drop = (copy: string): void => rmSync(join(folder, copy), { recursive: true, force: true });
  let copyCount = 0;
  let isUp = true;
  let current = await startControlledEditor(processes, engine, args, env);
  const { port } = current;
  const cables = await Promise.all(
    Array.from({ length: options.cables }, () =>
      layCable(() => ({ host: "127.0.0.1", port }), witness.listenerOf(name)),
    ),
  );

  const command: ChaosEditor["do"] = (what) => askOf(current, what);
  /** EditorHost's process belongs to the one that we started: that one kills it. */
  const isOwnProcess = engine === "typescript";

  const script = async (): Promise<void> => {
    if (engine === "dotnet") await command({ do: "script", tests: 4, testSeconds: 0.03, buildSeconds: 0.1 });
  };
  const down = (how: () => Promise<unknown>) => async (): Promise<void> => {
    if (!isUp) return;
    isUp = false;
    await how();
  };
  await script();

  return {
    name,
    engine,
    plain,
    id: current.editorId,
    cables,
    get isRunning() {
      return isUp;
    },
    do: command,
    async busy(limitMs) {
      const runs = async (): Promise<boolean> => {
        const { open } = (await command({ do: "status" })) as { open: { state: string }[] };
        return open.some(({ state }) => state === "running");
      };
      await until("something runs", runs, limitMs).catch(() => undefined);
    },
    async pid() {
      if (isOwnProcess) return current.process.pid;
      return Number((await command({ do: "status" })).pid);
    },
    kill: down(() => (isOwnProcess ? current.process.kill("SIGKILL") : command({ do: "crash" }))),
    crash: down(() => command({ do: "crash", keepUnflushed: false })),
    quit: down(() => current.process.kill("SIGTERM")),
    async start() {
      if (isUp) return;
      if (!current.process.isRunning) {
        current = await startControlledEditor(processes, engine, [...args, "--port", String(port)], env);
      } else await command({ do: "restart" });
      isUp = true;
      await script();
    },
    executions: () => counter.lines(),
    async copyLedger() {
      const idleAt = async (): Promise<unknown> => {
        const { open, ledgerSeq } = await command({ do: "status" });
        return (open as unknown[]).length === 0 ? ledgerSeq : undefined;
      };
      const before = isUp ? await idleAt() : undefined;
      if (before === undefined) return;
      copyCount += 1;
      const name = `ledger-${copyCount}`;
      cpSync(ledger, join(folder, name), { recursive: true });
      // Work of the same session in between: such a copy is the one that nothing defends against.
      if (isUp && (await idleAt()) === before) copies.push(name);
      else rmSync(join(folder, name), { recursive: true, force: true });
      for (const old of copies.splice(0, copies.length - MOST_COPIES)) drop(old);
    },
    ledgerCopies: () => copies,
    forgetLedgerCopies() {
      for (const copy of copies.splice(0)) drop(copy);
    },
    restoreLedger(copy) {
      rmSync(ledger, { recursive: true, force: true });
      if (copy !== undefined) cpSync(join(folder, copy), ledger, { recursive: true });
      // What came after it is of another past.
      for (const younger of copies.splice(copy === undefined ? 0 : copies.indexOf(copy) + 1)) drop(younger);
    },
    async close() {
      for (const cable of cables) await cable.close();
    },
  };
}

/** A process that dies answers nothing. */
function askOf(editor: ControlledEditor, what: { do: string }): Promise<Record<string, unknown>> {
  const gone = editor.process.ended.then(() => {
    throw new Error("the Editor's process ended");
  });
  gone.catch(() => undefined);
  return Promise.race([editor.do(what), gone]);
}
