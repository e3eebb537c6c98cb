/** `subscriptions/listen`: a request that stays open, on whose stream its client hears of changes. */
import type { RequestId } from "@modelcontextprotocol/server";
import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS } from "../../../shared/wire/rpc.js";
import { ProtocolError } from "../protocol-error.js";
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

/** Most open at once for one principal. */
const MOST_OF_ONE = 100;

export function createListen(toolList: Pick<ToolList, "onChange">, mostOfOne = MOST_OF_ONE): Listen {
  const open = new Map<string, number>();
  const count = (principal: string, by: number): void => {
    const left = (open.get(principal) ?? 0) + by;
    if (left === 0) open.delete(principal);
    else open.set(principal, left);
  };

  return async ({ principal, id, params, signal, notify }) => {
    const { notifications: wanted } = params;
    if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted))
      throw new ProtocolError(RPC_INVALID_PARAMS, "`notifications` says what to listen for: an object.");
    if ((open.get(principal) ?? 0) >= mostOfOne)
      throw new ProtocolError(RPC_INTERNAL_ERROR, `More than ${mostOfOne} subscriptions are open. End some.`);
    const _meta = { [SUBSCRIPTION_KEY]: id };
    const hearsTools = "toolsListChanged" in wanted && wanted.toolsListChanged === true;
    const notifications = hearsTools ? { toolsListChanged: true } : {};
    notify("notifications/subscriptions/acknowledged", { _meta, notifications });
    // Nothing of what it wants is ever said here.
    if (!hearsTools || signal.aborted) return { _meta };
    count(principal, 1);
    const stop = toolList.onChange(() => notify("notifications/tools/list_changed", { _meta }));
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    stop();
    count(principal, -1);
    return { _meta };
  };
}
