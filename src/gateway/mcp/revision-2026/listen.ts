/** `subscriptions/listen`: a request that stays open, on whose stream its client hears of changes. */
import { setMaxListeners } from "node:events";
import type { RequestId } from "@modelcontextprotocol/server";
import type { Log } from "../../../shared/telemetry.js";
import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS } from "../../../shared/wire/rpc.js";
import type { Broker } from "../../broker.js";
import { namedResult } from "../../results/result-uri.js";
import { ProtocolError } from "../protocol-error.js";
import { namedOperation } from "../requests/state-resources.js";
import { UUID } from "../tools/broker-tool.js";
import type { ToolList } from "../tools/tool-list.js";
import { SUBSCRIPTION_KEY } from "./protocol.js";

export interface Listener {
  principal: string;
  /** The client's own id of the request, which is that of the subscription. */
  id: RequestId;
  params: Readonly<Record<string, unknown>>;
  /** Aborted once the client does not listen any more, or the gateway closes. */
  signal: AbortSignal;
  notify(method: string, params: Record<string, unknown>): void;
}

/** Resolves when the subscription is over, with the result that says so. */
export type Listen = (listener: Listener) => Promise<Record<string, unknown>>;

/** Most open at once for one principal, and most resources in one. */
const MOST_OF_ONE = 100;

/** What is agreed on. */
interface Filter {
  toolsListChanged?: true;
  resourceSubscriptions?: string[];
}

export function createListen({
  broker,
  toolList,
  log,
}: {
  broker: Pick<Broker, "ended">;
  toolList: Pick<ToolList, "onChange">;
  log: Log;
}): Listen {
  const open = new Map<string, number>();
  const count = (principal: string, by: number): void => {
    const left = (open.get(principal) ?? 0) + by;
    if (left === 0) open.delete(principal);
    else open.set(principal, left);
  };

  return async ({ principal, id, params, signal, notify }) => {
    const notifications = agreed(params.notifications);
    if ((open.get(principal) ?? 0) >= MOST_OF_ONE)
      throw new ProtocolError(
        RPC_INTERNAL_ERROR,
        `More than ${MOST_OF_ONE} subscriptions are open. End some.`,
      );
    const _meta = { [SUBSCRIPTION_KEY]: id };
    const isOpen = (): boolean => !signal.aborted;
    notify("notifications/subscriptions/acknowledged", { _meta, notifications });
    // Nothing of what it wants is ever said here.
    if (Object.keys(notifications).length === 0 || !isOpen()) return { _meta };
    count(principal, 1);
    // Every resource that is followed adds a listener.
    setMaxListeners(0, signal);
    const stop = notifications.toolsListChanged
      ? toolList.onChange(() => notify("notifications/tools/list_changed", { _meta }))
      : () => undefined;
    for (const uri of notifications.resourceSubscriptions ?? []) {
      broker.ended(principal, operationIn(uri) ?? "", signal).then(
        (hasEnded) => hasEnded && isOpen() && notify("notifications/resources/updated", { _meta, uri }),
        (error: Error) => log.debug({ uri, error: error.message }, "the end of an operation was not told"),
      );
    }
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    stop();
    count(principal, -1);
    return { _meta };
  };
}

/** The part of what is wanted that is ever told: of resources, those of operations, which change once, when they end. */
function agreed(wanted: unknown): Filter {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted))
    throw new ProtocolError(RPC_INVALID_PARAMS, "`notifications` says what to listen for: an object.");
  const { toolsListChanged, resourceSubscriptions } = wanted as Record<string, unknown>;
  const uris = (Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [])
    .filter((uri) => typeof uri === "string" && operationIn(uri) !== undefined)
    .slice(0, MOST_OF_ONE);
  return {
    ...(toolsListChanged === true ? { toolsListChanged } : {}),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: [...new Set<string>(uris)] }),
  };
}

function operationIn(uri: string): string | undefined {
  const id = namedResult(uri)?.id ?? namedOperation(uri);
  return id !== undefined && UUID.test(id) ? id : undefined;
}
