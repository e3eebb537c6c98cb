/** What a broker serves its sessions with: the store, a gateway, and a worker for the Editors of this machine. */
import { createExchanges } from "../../gateway/exchange.js";
import { createGateway, type Gateway } from "../../gateway/gateway.js";
import { createLateGateway, type ServedGateway } from "../../gateway/mcp/pipe/late-gateway.js";
import { openPipeSession, type PipeLine, type PipeSession } from "../../gateway/mcp/pipe/pipe-session.js";
import { createToolList } from "../../gateway/mcp/tools/tool-list.js";
import { isSent } from "../../shared/operation/operation.js";
import type { PipeHello } from "../../shared/pipe-frames.js";
import { createWorker, type Worker } from "../../worker/worker.js";
import { gatewayOptions, waitLimits, workerOptions } from "../processes/options.js";
import type { Runtime } from "../processes/runtime.js";
import { VERSION } from "../version.js";

export interface Serving {
  gateway: Gateway;
  worker: Worker;
  /** For the sessions of the local socket. */
  served: ServedGateway;
  /** Gives the Editors to other workers, and nobody anything to wait for; the store stays open. */
  close(): Promise<void>;
}

export function serve(
  runtime: Runtime,
  principals?: Parameters<typeof createGateway>[0]["principals"],
): Serving {
  const gateway = createGateway({ ...runtime, principals }, gatewayOptions(runtime.config));
  const toolList = createToolList({
    broker: gateway.broker,
    notifier: runtime.store.notifier,
    log: runtime.log,
    waits: waitLimits(runtime.config),
  });
  const worker = createWorker({ ...runtime, version: VERSION }, workerOptions(runtime.config));
  return {
    gateway,
    worker,
    served: { broker: gateway.broker, toolList },
    async close() {
      toolList.close();
      await worker.close();
      await gateway.close();
    },
  };
}

/** Opens sessions also while the store is still being opened. */
export function sessionOpener(
  opening: Promise<ServedGateway>,
  { log, config }: Pick<Runtime, "log" | "config">,
): (line: PipeLine, hello: PipeHello) => PipeSession {
  const late = createLateGateway(opening, { waits: waitLimits(config) });
  const answers = {
    form: config.UNITY_BROKER_ANSWERS,
    limitBytes: config.UNITY_BROKER_ANSWER_LIMIT,
    waits: waitLimits(config),
  };
  const exchanges = createExchanges({ deliveries: late.broker, log });
  return (line, hello) =>
    openPipeSession({ ...late, exchanges, log, version: VERSION, answers }, line, hello);
}

/** False while a bridge without a ledger runs something: its outcome would be lost with its connection. */
export async function mayHandOver({ store }: Runtime): Promise<boolean> {
  for (const id of await store.editors.ids()) {
    if ((await store.editors.find(id))?.ledger) continue;
    const open = await store.operations.openOf(id);
    if (open.some(({ state }) => isSent(state))) return false;
  }
  return true;
}

/** Is anything under way on an Editor of this machine? Its owner stays until it has ended. */
export async function hasOpenOperations({ store, running }: Runtime): Promise<boolean> {
  const here = new Set(await running());
  for (const editor of here) if ((await store.operations.openOf(editor)).length > 0) return true;
  return false;
}
