/** How a caller speaks to the broker: the official client, a plain JSON-RPC client, a process over stdio. */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openHttpClient, type TestClient } from "../../harness/processes/process-clients.js";
import { inTime } from "../engine/in-time.js";
import { openOfficialClient } from "../engine/official-client.js";
import type { Random } from "../engine/random.js";
import type { ChaosWorld } from "./world.js";

export type VoiceKind = "official client" | "plain HTTP" | "stdio";

export interface Voice {
  /** What is asked so rejects when no answer came in this time: it was given up, in one of the ways that clients have. */
  within(patienceMs: number): Pick<TestClient, "ask">;
  /** Another gateway from now on, in the same session. */
  move(): void;
  close(): Promise<void>;
}

/** A gateway that stands still opens nothing. */
const OPEN_MS = 20_000;

export async function openVoice(kind: VoiceKind, world: ChaosWorld, random: Random): Promise<Voice> {
  let gateway = random.pick(world.gateways);
  const open = (): Promise<TestClient> => {
    if (kind === "stdio") return world.newStdio();
    if (kind === "plain HTTP") return openHttpClient(() => gateway.url());
    return openOfficialClient(new StreamableHTTPClientTransport(new URL(gateway.url())), "http");
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
          if (kind !== "plain HTTP" || random.chance(0.3))
            void client.giveUp(asked.id).catch(() => undefined);
          if (kind === "plain HTTP") asked.hangUp();
        });
        return { ...asked, answer };
      },
    }),
    move() {
      if (kind === "plain HTTP") gateway = random.pick(world.gateways);
    },
    async close() {
      const closed = client.close();
      if (kind !== "stdio") await closed;
    },
  };
}
