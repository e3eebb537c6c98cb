/** Notes every request for an outcome, and its answer, as its client saw them. */
import type { CallAnswer, TestClient } from "../../harness/processes/process-clients.js";

/** One request for an outcome, and its answer. */
export interface Heard {
  /** Names the request: one that is sent again under its id is the same request. */
  request: string;
  /** ms since the epoch. */
  askedAt: number;
  answeredAt: number;
  /** What was called, as executions name it; undefined: it asked for an operation by its log_id. */
  call: string | undefined;
  /** It has an idempotency key or force_new, each of which names one operation for good. */
  namesOne: boolean;
  reported: CallAnswer;
}

export interface Listener {
  readonly heard: readonly Heard[];
  /** A request leaves now. `args` with the broker's own parameters. */
  asks(request: string, tool: string, args: Record<string, unknown>): (reported: CallAnswer) => void;
  /** The same client, every answer of which is noted. */
  to<Client extends TestClient>(client: Client): Client;
}

/** `callOf`: a call as executions name it. */
export function createListener(callOf: (tool: string, args: Record<string, unknown>) => string): Listener {
  const heard: Heard[] = [];
  let clients = 0;

  const asks: Listener["asks"] = (request, tool, args) => {
    const askedAt = Date.now();
    const isRead = tool === "get_operation_result";
    return (reported) => {
      if ((!isRead && !isUnityTool(tool)) || reported.log_id === undefined) return;
      heard.push({
        ...{ request, askedAt, answeredAt: Date.now(), reported },
        call: isRead ? undefined : callOf(tool, args),
        namesOne: args.force_new !== undefined || args.idempotency_key !== undefined,
      });
    };
  };

  return {
    heard,
    asks,
    to(client) {
      clients += 1;
      const name = `client ${clients}`;
      const givenUp = new Set<string>();
      const ask: TestClient["ask"] = (tool, args, options) => {
        const answered = { note: (_told: CallAnswer): void => undefined };
        const asked = client.ask(tool, args, options);
        const request = `${name} #${asked.id}`;
        answered.note = asks(request, tool, args);
        const answer = asked.answer.then((reported) => {
          // What its client had given up by then nobody was told.
          if (!givenUp.has(request)) answered.note(reported);
          return reported;
        });
        answer.catch(() => undefined);
        return { ...asked, answer };
      };
      return Object.create(client, {
        ask: { value: ask },
        call: { value: (...call: Parameters<TestClient["call"]>) => ask(...call).answer },
        giveUp: {
          value: (id: number, reason?: string) => {
            givenUp.add(`${name} #${id}`);
            return client.giveUp(id, reason);
          },
        },
      }) as typeof client;
    },
  };
}

/** The tools of Editors have dashes, the broker's own underscores. */
function isUnityTool(tool: string): boolean {
  return !tool.includes("_");
}
