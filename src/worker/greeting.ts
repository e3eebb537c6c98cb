/** Who answers on a new connection: a bridge that keeps a ledger says hello, a plain one is driven without. */
import { RpcFailure } from "../shared/dialogue.js";
import type { Log } from "../shared/log.js";
import { knowsNoHello } from "../shared/plain.js";
import type { HelloResult } from "../shared/wire.js";
import type { Connection } from "./connection.js";
import { createEditorCalls, type EditorCalls } from "./editor-calls.js";
import { type HelloDeps, sayHello } from "./hello.js";
import type { PlainEditor } from "./plain-editor.js";
import type { PushTarget } from "./push-server.js";

export interface GreetingDeps extends HelloDeps {
  log: Log;
  /** How this worker calls itself. */
  clientName?: string | undefined;
  /** Where it listens for pushes. */
  pushEndpoint?: (() => Promise<PushTarget | undefined>) | undefined;
  /** Goes on where there is no hello; absent: such an Editor is refused, another project may have taken the port. */
  plain?: PlainEditor | undefined;
}

export interface Greeting {
  hello: HelloResult;
  calls: EditorCalls;
}

/**
 * Resolves undefined when we are fenced for good. Rejects what `sayHello` rejects: where the peer is plain and may
 * not be, that is its own "no such method".
 */
export async function greetEditor(
  line: Connection,
  deps: GreetingDeps,
  on: { told(method: string, params: object): void; fenced(): void },
): Promise<Greeting | undefined> {
  try {
    const hello = await sayHello(line, deps);
    if (!hello) return undefined;
    // Answered beside everything else; a bridge without the channel refuses, and says the same on this connection.
    if (deps.pushEndpoint) void announce(line, deps, true).catch(() => undefined);
    return { hello, calls: createEditorCalls(line, on.fenced) };
  } catch (error) {
    if (!deps.plain || !(error instanceof RpcFailure) || !knowsNoHello(error)) throw error;
    line.trust();
    await announce(line, deps, false);
    return deps.plain.greet(line, on.told);
  }
}

/** The key is told to a proven Editor only. */
async function announce(
  line: Connection,
  { clientName, pushEndpoint, log }: GreetingDeps,
  isProven: boolean,
): Promise<void> {
  const target = await pushEndpoint?.();
  const endpoint = target?.address;
  const key = isProven ? target?.key : undefined;
  const tell = async (method: string, params: object): Promise<void> => {
    try {
      await line.request(method, params);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      log.debug({ method, error: error.message }, "the Editor does not take this announcement");
    }
  };
  await tell("set-client-name", {
    ClientName: clientName ?? "unity-job-broker",
    ...(endpoint === undefined ? {} : { PushNotificationEndpoint: endpoint, PushNotificationKey: key }),
  });
  if (endpoint !== undefined) await tell("sendPushNotificationEndpoint", { endpoint, key });
}
