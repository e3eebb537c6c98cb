/** One Editor as a process of its own, whichever engine plays it, and its control channel. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EndpointFile } from "../../../src/shared/wire/wire.js";
import {
  type Client,
  connectClient,
  type Owner,
  own,
  type Params,
} from "../../system/simulator/simulator-client.js";
import { environment } from "../processes/installation.js";
import { createProcesses } from "../processes/processes.js";
import { type ControlledEditor, type Engine, startControlledEditor } from "./editor-control.js";

export interface EditorUnderTest {
  readonly engine: Engine;
  readonly editorId: string;
  readonly port: number;
  readonly token: string;
  readonly folder: string;
  readonly ledgerFolder: string;
  readonly do: ControlledEditor["do"];
  /** What workers find it by, as it is now. */
  endpoint(): EndpointFile;
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

/** `ledgerFolder`: that of an Editor before it; its own if left out. `plainSurface`: open without the token. */
export async function startEditorUnderTest(
  engine: Engine,
  options: { ledgerFolder?: string; plainSurface?: boolean } = {},
): Promise<EditorUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), `ujb-editor-${engine}-`));
  const ledgerFolder = options.ledgerFolder ?? join(folder, "ledger");
  const processes = createProcesses();
  const clients: Client[] = [];
  let epoch = 0;
  const editor = await startControlledEditor(
    processes,
    engine,
    [
      ...["--project", join(folder, "Project"), "--counter-file", join(folder, "executions.log")],
      ...["--ledger-folder", ledgerFolder],
      ...(options.plainSurface ? ["--plain-surface"] : []),
    ],
    environment(folder),
  );
  const { editorId, port, do: command } = editor;
  const endpoints = join(folder, "editors");
  const endpoint = (): EndpointFile => {
    const [file = ""] = readdirSync(endpoints).filter((name) => name.endsWith(".json"));
    return JSON.parse(readFileSync(join(endpoints, file), "utf8")) as EndpointFile;
  };

  return {
    engine,
    editorId,
    port,
    get token() {
      return endpoint().token;
    },
    folder,
    ledgerFolder,
    endpoint,
    do: command,
    async begun(operationId) {
      const { executions } = (await command({ do: "status" })) as { executions: { operationId: string }[] };
      return executions.filter((execution) => execution.operationId === operationId).length;
    },
    async owner(fields = {}) {
      epoch = Math.max(epoch + 1, Number(fields.epoch ?? 0));
      const owner = await own(
        { port, token: endpoint().token },
        { epoch, ownerNonce: `nonce-${epoch}`, ...fields },
      );
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
