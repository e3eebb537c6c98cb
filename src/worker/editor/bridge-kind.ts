/** Finds out which bridge answers on a new connection: one with a ledger gets a hello, a uLoop bridge is driven without. */

import type { Log } from "../../shared/telemetry.js";
import { RpcFailure } from "../../shared/wire/rpc.js";
import { knowsNoHello } from "../../shared/wire/uloop.js";
import type { Greeting, OwnWireEditor } from "../bridges/bridge.js";
import type { UloopEditor } from "../bridges/uloop-editor.js";
import {
  type Connection,
  type ConnectionDeps,
  type ConnectionOptions,
  createConnection,
} from "../transport/connection.js";
import type { PushTarget } from "../transport/push-server.js";
import { createEditorCalls } from "./editor-calls.js";
import { type HelloDeps, shakeHands } from "./handshake.js";

export interface BridgeKindDeps extends HelloDeps {
  log: Log;
  /** The name of this worker. */
  clientName?: string | undefined;
  /** Where this worker listens for pushes. */
  pushEndpoint?: (() => Promise<PushTarget | undefined>) | undefined;
  /** Drives an Editor without hello; absent: such an Editor is refused, because another project may have taken the port. */
  uloop?: UloopEditor | undefined;
}

/** What happens on a connection besides answers. */
interface LineEvents {
  notice(method: string, params: object): void;
  fenced(): void;
}

/** A connection, and how to find out who answers on it. */
export interface EditorLine extends Pick<Connection, "opened" | "closed" | "close" | "expectBytesEvery"> {
  /** As `identifyBridge`, which a bridge with a wire of its own does not need. */
  identify(deps: BridgeKindDeps, on: LineEvents): Promise<Greeting | undefined>;
}

export function openLine(
  at: ConnectionDeps,
  options: ConnectionOptions,
  ownWire: OwnWireEditor | undefined,
): EditorLine {
  if (!ownWire) {
    const line = createConnection(at, options);
    return { ...line, identify: (deps, on) => identifyBridge(line, deps, on) };
  }
  const wire = ownWire.open(at);
  return { ...wire, expectBytesEvery: () => undefined, identify: (_deps, on) => wire.greet(on.notice) };
}

/**
 * Resolves undefined if this owner is fenced for good. Rejects as `sayHello` does: if the peer is a uLoop bridge and may
 * not be one, with the peer's own "no such method".
 */
async function identifyBridge(
  line: Connection,
  deps: BridgeKindDeps,
  on: LineEvents,
): Promise<Greeting | undefined> {
  try {
    const hello = await shakeHands(line, deps);
    if (!hello) return undefined;
    // Not awaited; a bridge without the push channel refuses, and reports the same on this connection.
    if (deps.pushEndpoint) void announce(line, deps, true).catch(() => undefined);
    return { hello, calls: createEditorCalls(line, on.fenced) };
  } catch (error) {
    if (!deps.uloop || !(error instanceof RpcFailure) || !knowsNoHello(error)) throw error;
    line.trust();
    await announce(line, deps, false);
    return deps.uloop.greet(line, on.notice);
  }
}

/** Only a proven Editor gets the key. */
async function announce(
  line: Connection,
  { clientName, pushEndpoint, log }: BridgeKindDeps,
  isProven: boolean,
): Promise<void> {
  const target = await pushEndpoint?.();
  const endpoint = target?.address;
  const key = isProven ? target?.key : undefined;
  const send = async (method: string, params: object): Promise<void> => {
    try {
      await line.request(method, params);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      log.debug({ method, error: error.message }, "the Editor does not take this announcement");
    }
  };
  await send("set-client-name", {
    ClientName: clientName ?? "unity-job-broker",
    ...(endpoint === undefined ? {} : { PushNotificationEndpoint: endpoint, PushNotificationKey: key }),
  });
  if (endpoint !== undefined) await send("sendPushNotificationEndpoint", { endpoint, key });
}
