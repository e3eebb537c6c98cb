/** How a caller speaks to the broker: the official client, a plain JSON-RPC client, with a proxy or without, a process over stdio. */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { BEHIND_A_PROXY, openHttpClient, type TestClient } from "../../harness/processes/process-clients.js";
import { inTime } from "../engine/in-time.js";
import { openOfficialClient } from "../engine/official-client.js";
import type { Random } from "../engine/random.js";
import type { ChaosWorld } from "./world.js";

export type VoiceKind = "official client" | "plain HTTP" | "behind a proxy" | "stdio";

export interface Voice {
  /** What is asked so rejects when no answer came in this time: it was given up, in one of the ways that clients have. */
  within(patienceMs: number): Pick<TestClient, "ask">;
  /** Another gateway from now on, in the same session. */
  move(): void;
  close(): Promise<void>;
}

/** A gateway that stands still opens nothing. */
const OPEN_MS = 20_000;

/** What clients say that cancel every request behind its answer. */
const LATE = "AbortError: This operation was aborted";

export async function openVoice(kind: VoiceKind, world: ChaosWorld, random: Random): Promise<Voice> {
  let at = random.whole(0, world.gateways.length - 1);
  const directUrl = (): string => world.gateways[at]?.url() ?? "";
  const proxyUrl = (): string => `http://127.0.0.1:${world.proxies[at]?.port}/mcp`;
  const isPlain = kind === "plain HTTP" || kind === "behind a proxy";
  const open = (): Promise<TestClient> => {
    if (kind === "stdio") return world.newStdio();
    if (kind === "plain HTTP") return openHttpClient(directUrl);
    if (kind === "behind a proxy") return openHttpClient(proxyUrl, BEHIND_A_PROXY);
    return openOfficialClient(new StreamableHTTPClientTransport(new URL(directUrl())), "http");
  };
  const opening = open();
  const opened = await inTime(opening, OPEN_MS, () => {
    void opening.then((late) => late.close()).catch(() => undefined);
  });
  const client = world.account.listener.to(opened);
  return {
    within: (patienceMs) => ({
      ask(tool, args) {
        const asked = client.ask(tool, args);
        const answer = inTime(asked.answer, patienceMs, () => {
          // Over stdio silence would say that the answer was read.
          if (!isPlain || random.chance(0.3)) void client.giveUp(asked.id).catch(() => undefined);
          if (isPlain) asked.hangUp();
        });
        const cancelLate = (): void => {
          if (random.chance(0.2)) void client.giveUp(asked.id, LATE).catch(() => undefined);
        };
        void answer.then(cancelLate, () => undefined);
        return { ...asked, answer };
      },
    }),
    move() {
      if (isPlain) at = random.whole(0, world.gateways.length - 1);
    },
    async close() {
      const closed = client.close();
      if (kind !== "stdio") await closed;
    },
  };
}
