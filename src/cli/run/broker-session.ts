/**
 * A connection to the broker that is made again when it breaks. A pipeline waits for hours, and a gateway that restarts
 * meanwhile does not end an operation. Sending a call again is safe: the broker finds the operation of the first time.
 */
import { setTimeout as delay } from "node:timers/promises";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { type ErrorCode, isErrorCode } from "../../shared/errors.js";
import type { Answer } from "../../shared/operation/answer.js";
import type { BrokerClient, CallOptions, ProgressNote } from "../client/broker-client.js";

export interface BrokerSession {
  /**
   * Asks until the broker answers. Rejects with BrokerAway when its patience or the time until `until` is over, and with
   * the reason of `signal`.
   */
  call(tool: string, args: Record<string, unknown>, options: AskOptions): Promise<Answer>;
  /** For what is read at once or not at all. */
  client(): Promise<BrokerClient>;
  close(): Promise<void>;
}

export interface AskOptions extends Pick<CallOptions, "limitMs" | "meta" | "onMeta"> {
  signal: AbortSignal;
  /** When the caller gives up, by performance.now(). */
  until: number;
  onProgress?: ((note: ProgressNote) => void) | undefined;
}

export interface SessionOptions {
  /** How long the broker may be away without a break, ms. */
  patienceMs: number;
  /** Pause between attempts: at first, and at most, ms. */
  pauseMs: number;
  mostPauseMs: number;
}

const SESSION_DEFAULTS: SessionOptions = { patienceMs: 300_000, pauseMs: 500, mostPauseMs: 10_000 };

/** No answer could be had; what had been accepted goes on. */
export class BrokerAway extends Error {}

/** Refusals that say nothing about the operation, and that pass. */
const PASSING: readonly (ErrorCode | undefined)[] = ["STORE_UNAVAILABLE", "BROKER_ENDED", "RATE_LIMITED"];

/** `first` is connected already, so that a broker that cannot be reached at all is noticed before anything is asked. */
export function createBrokerSession(
  deps: { first: BrokerClient; connect(): Promise<BrokerClient>; say(line: string): void },
  options: SessionOptions = SESSION_DEFAULTS,
): BrokerSession {
  let current: BrokerClient | undefined = deps.first;

  const client = async (): Promise<BrokerClient> => {
    current ??= await deps.connect();
    return current;
  };

  const drop = async (): Promise<void> => {
    const broken = current;
    current = undefined;
    await broken?.close().catch(() => undefined);
  };

  /** Undefined: the broker is away. */
  const ask = async (
    tool: string,
    args: Record<string, unknown>,
    { signal, onProgress, limitMs, meta, onMeta }: AskOptions,
  ): Promise<{ answer: Answer } | { trouble: string }> => {
    try {
      const asked = await client();
      const answer = await asked.call(tool, args, {
        signal,
        limitMs,
        ...(onProgress ? { onProgress } : {}),
        ...(meta ? { meta } : {}),
        ...(onMeta ? { onMeta } : {}),
      });
      return answer.state === undefined && PASSING.includes(answer.error_code)
        ? { trouble: answer.message }
        : { answer };
    } catch (error) {
      signal.throwIfAborted();
      const refused = refusalIn(error);
      if (refused) return { answer: refused };
      await drop();
      return { trouble: (error as Error).message };
    }
  };

  return {
    client,

    async call(tool, args, given) {
      const awaySince = performance.now();
      let pause = options.pauseMs;
      for (let attempt = 0; ; attempt += 1) {
        const asked = await ask(tool, args, given);
        if ("answer" in asked) return asked.answer;
        const end = Math.min(given.until, awaySince + options.patienceMs);
        if (performance.now() >= end) throw new BrokerAway(asked.trouble);
        if (attempt === 0)
          deps.say(
            `No answer from the broker (${asked.trouble}). An accepted operation goes on; asking again.`,
          );
        await delay(Math.min(pause, end - performance.now()), undefined, { signal: given.signal });
        pause = Math.min(2 * pause, options.mostPauseMs);
      }
    },

    async close() {
      await current?.close().catch(() => undefined);
    },
  };
}

/** What the protocol requires to be an error, such as an unknown tool, is an answer of the broker all the same. */
function refusalIn(error: unknown): Answer | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof McpError)) return undefined;
  const code = (cause.data as { error_code?: string } | undefined)?.error_code;
  return code !== undefined && isErrorCode(code)
    ? { status: "error", error_code: code, message: (error as Error).message }
    : undefined;
}
