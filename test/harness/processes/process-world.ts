/** A broker as it is installed: a private Redis, one simulated Editor, a worker and a gateway, each a process. */
import { join } from "node:path";
import { type ControlledEditor, type Engine, startControlledEditor } from "../editor/editor-control.js";
import {
  type GatewayMember,
  type Installation,
  type InstallationOptions,
  type Member,
  openInstallation,
} from "./installation.js";
import { type HttpClient, openHttpClient } from "./process-clients.js";
import { type RunningProcess, until } from "./processes.js";

export interface Execution {
  operationId: string;
  what: string;
  at: number;
}

/** The Editor's own account, and its faults (src/simulator/fault-commands.ts). */
export interface EditorControl {
  /** The simulator; of the C# bridge, whose process it is a child of. */
  readonly process: RunningProcess;
  readonly editorId: string;
  readonly counterFile: string;
  readonly do: ControlledEditor["do"];
  /** Every execution that ever began of tools with this label; all when left out. */
  executions(what?: string): Promise<Execution[]>;
}

/** The smallest world: one Editor, one worker, one gateway. */
export interface World extends Omit<Installation, "worker" | "gateway" | "close"> {
  readonly editor: EditorControl;
  readonly worker: Member;
  readonly gateway: Member;
  /** Another gateway of the same store, serving. */
  secondGateway(): Promise<GatewayMember>;
  url(): string;
  /** A new session over HTTP, at the gateway's own address or another way to it; `headers`: of each of its requests. */
  http(address?: () => string, headers?: Record<string, string>): Promise<HttpClient>;
  /** Ends everything; rejects when something did not end as it should, or something is left. */
  close(): Promise<void>;
}

export interface WorldOptions extends InstallationOptions {
  /** Default typescript. */
  engine?: Engine;
}

export async function startWorld({ engine = "typescript", ...options }: WorldOptions = {}): Promise<World> {
  const installation = await openInstallation(options);
  const { processes } = installation;
  try {
    const editor = await startEditor(installation, engine);
    const worker = await installation.worker("worker");
    const gateway = await installation.gateway("gateway");
    await worker.start();
    await gateway.start();
    const { url } = gateway;
    const http = (address = url, headers?: Record<string, string>): Promise<HttpClient> =>
      openHttpClient(address, headers);
    const first = await http();
    await toolsAreKnown(first);
    await first.close();
    return {
      ...installation,
      ...{ editor, worker, gateway, url, http },
      async secondGateway() {
        const second = await installation.gateway("second gateway");
        await second.start();
        return second;
      },
      async close() {
        const faults = await installation.close();
        if (faults.length > 0)
          throw new Error(`left behind or ended badly:\n${faults.join("\n")}\n${processes.logs()}`);
      },
    };
  } catch (error) {
    console.error(processes.logs());
    await installation.close().catch(() => undefined);
    throw error;
  }
}

/** Resolves when the Editor's tools are listed. */
export async function toolsAreKnown(client: {
  request(method: string): Promise<Record<string, unknown>>;
}): Promise<string[]> {
  return until("the Editor's tools are listed", async () => {
    const { tools } = (await client.request("tools/list")) as { tools: { name: string }[] };
    const names = tools.map(({ name }) => name);
    return names.includes("execute-menu-item") && names;
  });
}

async function startEditor({ processes, folder, env }: Installation, engine: Engine): Promise<EditorControl> {
  const counterFile = join(folder, "executions.log");
  const args = ["--project", join(folder, "Project"), "--counter-file", counterFile];
  const editor = await startControlledEditor(
    processes,
    engine,
    [...args, "--ledger-folder", join(folder, "ledger")],
    env,
  );
  return {
    process: editor.process,
    editorId: editor.editorId,
    counterFile,
    do: editor.do,
    async executions(what) {
      const { executions } = (await editor.do({ do: "status" })) as unknown as { executions: Execution[] };
      return what === undefined ? executions : executions.filter((execution) => execution.what === what);
    },
  };
}
