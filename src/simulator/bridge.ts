/** Method names to their parts, and who may call which. */
import { z } from "zod";
import { RPC_INVALID_PARAMS, RPC_UNKNOWN_METHOD } from "../shared/rpc.js";
import { EDITOR_CODES } from "../shared/wire.js";
import type { createHello } from "./hello.js";
import type { Operations } from "./operations.js";
import { blocked, type PlainSurface } from "./plain-surface.js";
import type { PushClient } from "./push-client.js";
import type { Answer, Peer } from "./tcp-server.js";
import type { ToolTable } from "./tools.js";
import type { WorkerSeat } from "./worker-seat.js";
import type { World } from "./world.js";

export interface BridgeDeps {
  hello: ReturnType<typeof createHello>;
  operations: Operations;
  plain: PlainSurface;
  push: PushClient;
  seat: WorkerSeat;
  tools: ToolTable;
  world: World;
}

const Names = z.looseObject({
  ClientName: z.string().optional(),
  clientName: z.string().optional(),
  PushNotificationEndpoint: z.string().optional(),
  pushNotificationEndpoint: z.string().optional(),
  endpoint: z.string().optional(),
});

/** `plainSurfaceBesideWorker` leaves section 2 open although a worker has said hello. */
export function createBridge(
  deps: BridgeDeps,
  options: { version: string; plainSurfaceBesideWorker: boolean },
) {
  const clientNames = new Map<Peer, string>();

  const announce = (peer: Peer, params: unknown): Answer => {
    const names = Names.safeParse(params ?? {});
    if (!names.success) return { error: { code: RPC_INVALID_PARAMS, message: z.prettifyError(names.error) } };
    const { ClientName, clientName, PushNotificationEndpoint, pushNotificationEndpoint, endpoint } =
      names.data;
    const name = ClientName ?? clientName;
    if (name !== undefined) clientNames.set(peer, name);
    const pushTo = PushNotificationEndpoint ?? pushNotificationEndpoint ?? endpoint;
    if (pushTo) deps.push.connectTo(pushTo);
    return { result: { Message: `Client name is ${clientNames.get(peer) ?? "unknown"}.`, Success: true } };
  };

  const operation = (peer: Peer, method: string, params: unknown): Answer => {
    if (!deps.seat.holds(peer)) {
      const message = "Say bridge/hello with the token first.";
      return { error: { code: EDITOR_CODES.UNAUTHORIZED, message } };
    }
    if (method === "operation/submit" && deps.world.phase === "quitting") {
      return { error: { code: EDITOR_CODES.EDITOR_SHUTTING_DOWN, message: "The Editor is quitting." } };
    }
    const unknown: Answer = { error: { code: RPC_UNKNOWN_METHOD, message: `There is no method ${method}.` } };
    return deps.operations.handle(method, params) ?? unknown;
  };

  return {
    closed(peer: Peer): void {
      clientNames.delete(peer);
      deps.seat.leave(peer);
    },
    handle(peer: Peer, method: string, params: unknown): Promise<Answer> | Answer {
      if (deps.seat.holds(peer)) deps.hello.heard();
      if (method === "bridge/hello") return deps.hello.answer(peer, params);
      if (method === "bridge/hand_over") return deps.hello.takeOver(params);
      if (method.startsWith("operation/")) return operation(peer, method, params);
      const plainIsOff = deps.seat.wasTaken() && !options.plainSurfaceBesideWorker;
      if (plainIsOff && !deps.seat.holds(peer))
        return blocked(method, "This Editor is driven by a job broker.");
      switch (method) {
        case "get-tool-details":
        case "get-command-details":
          return { result: { Tools: deps.tools.details(), Ver: options.version } };
        case "set-client-name":
        case "sendPushNotificationEndpoint":
          return announce(peer, params);
        case "ping": {
          const { Message, message } = (params ?? {}) as { Message?: unknown; message?: unknown };
          return { result: { Message: `Unity Editor received: ${String(Message ?? message ?? "Hello")}` } };
        }
        default:
          // A tool by name would pass the ledger's chain by: the worker's own calls are operations.
          return plainIsOff
            ? blocked(method, "Submit an operation; this Editor is driven by a job broker.")
            : deps.plain.call(clientNames.get(peer) ?? `connection-${peer.id}`, method, params);
      }
    },
  };
}
