/** How a caller speaks to the broker: the official client, a plain JSON-RPC client, a process over stdio. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openHttpClient, type TestClient, type Told } from "../harness/process-clients.js";
import type { Random } from "../never-twice/random.js";
import type { ChaosMember } from "./member.js";
import type { ChaosWorld } from "./world.js";

export type VoiceKind = "official client" | "plain HTTP" | "stdio";

export interface Voice {
  readonly kind: VoiceKind;
  /** Rejects when no answer came in this time: the request was given up, in one of the ways that clients have. */
  call(tool: string, args: Record<string, unknown>, patienceMs: number): Promise<Told>;
  /** Another gateway from now on, in the same session. */
  move(): void;
  close(): Promise<void>;
}

export async function openVoice(kind: VoiceKind, world: ChaosWorld, random: Random): Promise<Voice> {
  let gateway: ChaosMember = random.pick(world.gateways);
  if (kind === "official client") return officialClient(world.urlOf(gateway));
  const move = (): void => {
    gateway = random.pick(world.gateways);
  };
  const opening: Promise<TestClient> =
    kind === "stdio" ? world.newStdio() : openHttpClient(() => world.urlOf(gateway));
  const client = await inTime(opening, OPEN_MS, () => {
    void opening.then(
      (late) => late.close(),
      () => undefined,
    );
  });
  return {
    kind,
    move,
    async call(tool, args, patienceMs) {
      const asked = client.ask(tool, args);
      return inTime(asked.answer, patienceMs, () => {
        // Over stdio silence would say that the answer was read.
        if (kind === "stdio" || random.chance(0.3)) void client.giveUp(asked.id).catch(() => undefined);
        if (kind === "plain HTTP") asked.hangUp();
      });
    },
    async close() {
      const closed = client.close();
      if (kind === "plain HTTP") await closed;
    },
  };
}

async function officialClient(url: string): Promise<Voice> {
  const client = new Client({ name: "chaos", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  // What it says of broken connections it says again by rejecting.
  client.onerror = () => undefined;
  await inTime(client.connect(transport), OPEN_MS, () => void client.close());
  return {
    kind: "official client",
    move: () => undefined,
    async call(name, args, timeout) {
      const result = await client.callTool({ name, arguments: args }, undefined, { timeout });
      const [content] = result.content as { text: string }[];
      return (result.structuredContent ?? JSON.parse(content?.text ?? "{}")) as Told;
    },
    close: () => client.close(),
  };
}

/** A gateway that stands still opens nothing. */
const OPEN_MS = 20_000;

function inTime<T>(answer: Promise<T>, ms: number, giveUp: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      giveUp();
      reject(new Error(`no answer within ${ms} ms`));
    }, ms);
    answer.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
