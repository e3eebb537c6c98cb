/** Maps method names to their handlers, and decides who may call which. */
import { z } from "zod";
import { RPC_INVALID_PARAMS, RPC_UNKNOWN_METHOD } from "../../shared/wire/rpc.js";
import { EDITOR_CODES } from "../../shared/wire/wire.js";
import type { Operations } from "../operation-methods.js";
import type { ToolTable } from "../tools.js";
import type { World } from "../world.js";
import type { Admission } from "./admission.js";
import type { createHello } from "./hello.js";
import type { PushClient } from "./push-client.js";
import type { Answer, Peer } from "./tcp-server.js";
import { blocked, type UloopSurface } from "./uloop-surface.js";
import type { WorkerSeat } from "./worker-seat.js";

export interface BridgeDeps {
  admission: Admission;
  hello: ReturnType<typeof createHello>;
  operations: Operations;
  plain: UloopSurface;
  push: PushClient;
  seat: WorkerSeat;
  tools: ToolTable;
  world: World;
}

const PLAIN_IS_OFF =
  "This bridge answers only callers that prove to hold its token. To call tools without it, turn on the plain surface: then every program and user of this machine may run them.";

const Names = z.looseObject({
  ClientName: z.string().optional(),
  clientName: z.string().optional(),
  PushNotificationEndpoint: z.string().optional(),
  pushNotificationEndpoint: z.string().optional(),
  endpoint: z.string().optional(),
  PushNotificationKey: z.string().optional(),
  key: z.string().optional(),
});

/** `plainSurface`: every program that reaches the port may call tools by their names, without any proof. */
export function createBridge(deps: BridgeDeps, options: { version: string; plainSurface: boolean }) {
  const clientNames = new Map<Peer, string>();

  const announce = (peer: Peer, params: unknown): Answer => {
    const names = Names.safeParse(params ?? {});
    if (!names.success) return { error: { code: RPC_INVALID_PARAMS, message: z.prettifyError(names.error) } };
    const { ClientName, clientName, PushNotificationEndpoint, pushNotificationEndpoint, endpoint } =
      names.data;
    const name = ClientName ?? clientName;
    if (name !== undefined) clientNames.set(peer, name);
    const pushTo = PushNotificationEndpoint ?? pushNotificationEndpoint ?? endpoint;
    if (pushTo) deps.push.connectTo(pushTo, names.data.PushNotificationKey ?? names.data.key);
    return { result: { Message: `Client name is ${clientNames.get(peer) ?? "unknown"}.`, Success: true } };
  };

  const operation = (peer: Peer, method: string, params: unknown): Answer => {
    if (!deps.seat.holds(peer)) {
      const message = "Say bridge/hello first.";
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
      deps.admission.left(peer);
      deps.seat.leave(peer);
    },
    handle(peer: Peer, method: string, params: unknown): Promise<Answer> | Answer {
      const isSeated = deps.seat.holds(peer);
      if (method === "bridge/hello") return deps.hello.answer(peer, params);
      if (method === "bridge/hand_over") return deps.hello.handOverTo(peer, params);
      if (method === "bridge/prove") return deps.admission.prove(peer, params);
      if (method.startsWith("operation/")) return operation(peer, method, params);
      if (!isSeated && !options.plainSurface) return blocked(method, PLAIN_IS_OFF);
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
          // A call of a tool by name would bypass the ledger's chain: the worker submits operations instead.
          return isSeated
            ? blocked(method, "Submit an operation: a job broker drives this Editor.")
            : deps.plain.call(clientNames.get(peer) ?? `connection-${peer.id}`, method, params);
      }
    },
  };
}
