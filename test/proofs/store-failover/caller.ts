/** One caller: its calls one after the other, each until its outcome is known; everything that it was answered. */
import {
  BEHIND_A_PROXY,
  type CallAnswer,
  type HttpClient,
  openHttpClient,
} from "../../harness/processes/process-clients.js";
import { isAway, isFinal } from "../engine/outcomes.js";
import { drawnPause, type Random } from "../engine/random.js";

export interface Call {
  /** Names it, to the Editor too. */
  path: string;
  editor: string;
  /** How its caller waits: in the call itself, or by asking for its log_id. */
  isAskedFor: boolean;
  /** Every log_id that it was answered under, oldest first. */
  logIds: Set<string>;
  /** The answer with the outcome. */
  ended?: CallAnswer;
  endedAt?: number;
}

const TOOL = "execute-menu-item";
const END_MS = 90_000;
/** The store, or what it has to know again, is away. */
const LATER = new Set([
  "STORE_UNAVAILABLE",
  "EDITORS_NOT_BACK",
  "NO_EDITOR",
  "EDITOR_UNKNOWN",
  "UNKNOWN_TOOL",
]);

export interface Caller {
  /** Resolves when its outcome is known. */
  ask(call: Call): Promise<void>;
  /** One request, again for as long as nobody answers. */
  request(tool: string, args: Record<string, unknown>): Promise<CallAnswer>;
  close(): Promise<void>;
}

export const argumentsOf = ({ path, editor }: Call): Record<string, unknown> => ({
  MenuItemPath: path,
  editor,
});

export function createCaller(url: () => string, random: Random): Caller {
  let client: HttpClient | undefined;

  const request: Caller["request"] = async (tool, args) => {
    const deadline = performance.now() + END_MS;
    for (;;) {
      try {
        client ??= await openHttpClient(url, BEHIND_A_PROXY);
        const answer = await client.call(tool, args);
        if (!LATER.has(answer.error_code ?? "") || performance.now() > deadline) return answer;
      } catch (error) {
        if (!isAway(error) && !/session|404/i.test((error as Error).message)) throw error;
        if (performance.now() > deadline) throw error;
        await client?.close();
        client = undefined;
      }
      await drawnPause(random.between(20, 200));
    }
  };

  return {
    request,
    async ask(call) {
      const deadline = performance.now() + END_MS;
      let logId: string | undefined;
      for (;;) {
        const answer =
          logId === undefined
            ? await request(TOOL, { ...argumentsOf(call), timeout: call.isAskedFor ? 0 : 5 })
            : await request("get_operation_result", { log_id: logId, wait: true, timeout: 5 });
        // A log_id that the store has lost: the caller sends the call again.
        const isLost = answer.status === "not_found";
        logId = isLost || !call.isAskedFor ? undefined : answer.log_id;
        if (answer.log_id !== undefined) call.logIds.add(answer.log_id);
        if (isFinal(answer) && !isLost && !LATER.has(answer.error_code ?? "")) {
          Object.assign(call, { ended: answer, endedAt: performance.now() });
          return;
        }
        if (performance.now() > deadline)
          throw new Error(`${call.path} was not over after ${END_MS / 1000} s: ${JSON.stringify(answer)}`);
      }
    },
    async close() {
      await client?.close();
    },
  };
}
