/** One Editor as a process of its own, whichever engine plays it, and its control channel. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connectClient, type Owner, own, type Params } from "../simulator-client.js";
import { type Engine, environment } from "./process-world.js";
import { createProcesses } from "./processes.js";

export interface EditorUnderTest {
  readonly engine: Engine;
  readonly editorId: string;
  readonly port: number;
  readonly token: string;
  readonly folder: string;
  readonly ledgerFolder: string;
  do(command: { do: string; [parameter: string]: unknown }): Promise<Record<string, unknown>>;
  /** How often each operation began, by the Editor's own account. */
  begun(operationId: string): Promise<number>;
  /** A worker with a higher epoch than all before it. */
  owner(fields?: Params): Promise<Owner>;
  client(): Promise<Client>;
  /** Crashes it and starts the next process on the same port and ledger; `between` runs while nobody lives. */
  crashAndRestart(between?: () => void): Promise<void>;
  /** Ends everything; rejects when something did not end as it should. */
  close(): Promise<void>;
}

export async function startEditorUnderTest(engine: Engine, args: string[] = []): Promise<EditorUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), `ujb-editor-${engine}-`));
  const ledgerFolder = join(folder, "ledger");
  const processes = createProcesses();
  const env = environment(folder);
  const clients: Client[] = [];
  let epoch = 0;
  const simulated = processes.start(
    `editor (${engine})`,
    ["simulate", "--control", "--engine", engine, "--port", "0"].concat(
      ["--project", join(folder, "Project"), "--counter-file", join(folder, "executions.log")],
      ["--ledger-folder", ledgerFolder],
      args,
    ),
    env,
  );
  const [ready] = await simulated.line(/^\{"ready":true.*$/);
  const { editorId, port } = JSON.parse(ready) as { editorId: string; port: number };
  const asked: { resolve(answer: Record<string, unknown>): void; reject(error: Error): void }[] = [];
  simulated.onLine((line) => {
    const answer = JSON.parse(line) as { ok?: boolean; error?: string };
    if (answer.ok === true) asked.shift()?.resolve(answer);
    else if (answer.ok === false) asked.shift()?.reject(new Error(answer.error));
  });
  const command: EditorUnderTest["do"] = (what) =>
    new Promise((resolve, reject) => {
      asked.push({ resolve, reject });
      simulated.write(`${JSON.stringify(what)}\n`);
    });
  const endpoints = join(folder, "editors");
  const token = (): string => {
    const [file = ""] = readdirSync(endpoints).filter((name) => name.endsWith(".json"));
    return (JSON.parse(readFileSync(join(endpoints, file), "utf8")) as { token: string }).token;
  };

  return {
    engine,
    editorId,
    port,
    get token() {
      return token();
    },
    folder,
    ledgerFolder,
    do: command,
    async begun(operationId) {
      const { executions } = (await command({ do: "status" })) as { executions: { operationId: string }[] };
      return executions.filter((execution) => execution.operationId === operationId).length;
    },
    async owner(fields = {}) {
      epoch = Math.max(epoch + 1, Number(fields.epoch ?? 0));
      const owner = await own({ port, token: token() }, { epoch, ownerNonce: `nonce-${epoch}`, ...fields });
      clients.push(owner);
      return owner;
    },
    async client() {
      const client = await connectClient(port);
      clients.push(client);
      return client;
    },
    async crashAndRestart(between = () => undefined) {
      await command({ do: "crash", keepUnflushed: true });
      between();
      await command({ do: "restart" });
    },
    async close() {
      for (const client of clients) client.close();
      const faults = await processes.close();
      await rm(folder, { recursive: true, force: true });
      if (faults.length > 0) throw new Error(`${faults.join("\n")}\n${processes.logs()}`);
    },
  };
}
