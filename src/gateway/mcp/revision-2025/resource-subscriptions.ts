/** `resources/subscribe`: a client is told when the operation ends whose result or state it asks about; neither changes again. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../../../shared/log.js";
import { RPC_INVALID_PARAMS } from "../../../shared/wire/rpc.js";
import type { Broker } from "../../broker.js";
import { namedResult } from "../../results/result-uri.js";
import { ProtocolError } from "../protocol-error.js";
import { namedOperation } from "../requests/state-resources.js";
import { UUID } from "../tools/broker-tool.js";

/** Of one client. */
const MOST_OPEN = 100;

/**
 * Answers the requests of a client until the returned function is called. Every address is taken: of what is not there, or another
 * principal's, it hears nothing.
 */
export function serveSubscriptions(
  server: Server,
  { broker, log }: { broker: Pick<Broker, "ended">; log: Log },
  principal: string,
): () => void {
  const open = new Map<string, AbortController>();

  const follow = async (uri: string, logId: string, stop: AbortController): Promise<void> => {
    try {
      if (await broker.ended(principal, logId, stop.signal)) await server.sendResourceUpdated({ uri });
    } catch (error) {
      log.debug({ uri, error: (error as Error).message }, "the end of an operation was not told");
    } finally {
      if (open.get(uri) === stop) open.delete(uri);
    }
  };

  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    const id = namedResult(uri)?.id ?? namedOperation(uri);
    if (id === undefined || !UUID.test(id) || open.has(uri)) return {};
    if (open.size >= MOST_OPEN)
      throw new ProtocolError(
        RPC_INVALID_PARAMS,
        `At most ${MOST_OPEN} subscriptions; unsubscribe from some.`,
        {
          uri,
        },
      );
    const stop = new AbortController();
    open.set(uri, stop);
    void follow(uri, id, stop);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    open.get(uri)?.abort();
    open.delete(uri);
    return {};
  });
  return () => {
    for (const stop of open.values()) stop.abort();
    open.clear();
  };
}
