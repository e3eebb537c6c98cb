/**
 * The bug that must never happen again, at full scale: a menu item that blocks Unity's main thread for 35 s, longer
 * than any frame timeout, is called with a wait of 1 s and retried by everybody, with the gateway killed in between.
 */
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { TestClient } from "../../../harness/processes/process-clients.js";
import { openOfficialClient } from "../../engine/official-client.js";
import { isFinal } from "../../engine/outcomes.js";
import type { Scenario } from "./scenario.js";

const BLOCKS_SECONDS = 35;

export const fullScale: Scenario = {
  name: "a menu item that blocks Unity for 35 s, retried by everybody, runs once",
  story:
    "the official client, a new session for each round and a stdio process send it until they get the outcome",
  async play({ world, take, intent: intend, http, killed, counts }) {
    const intent = intend(BLOCKS_SECONDS);
    const callers = new Set<TestClient>();
    let answers = 0;

    const callAs = async (client: TestClient): Promise<boolean> => {
      try {
        const reported = await intent.call(client, 1);
        callers.add(client);
        answers += 1;
        return isFinal(reported);
      } catch {
        counts.unanswered += 1;
        return false;
      }
    };
    const open = async (): Promise<TestClient> =>
      take(await openOfficialClient(new StreamableHTTPClientTransport(new URL(world.url())), "http"));
    const inNewSession = async (): Promise<boolean> => {
      const client = await open().catch(() => undefined);
      if (!client) counts.unanswered += 1;
      const isTold = client !== undefined && (await callAs(client));
      await client?.close();
      return isTold;
    };

    const same = await open();
    await callAs(same);
    const beganAt = performance.now();
    const transport = new StdioClientTransport({ ...(await world.stdioServer()), stderr: "ignore" });
    const stdio = take(await openOfficialClient(transport, "stdio"));
    world.processes.guard(transport.pid ?? 0);
    let isSameTold = false;
    let isStdioTold = false;
    let isKilled = false;
    for (let round = 1; ; round += 1) {
      if (round > 200) throw new Error("200 rounds of retries, and no outcome");
      // Another call of the same caller after the outcome would be meant: one outcome is enough.
      if (!isSameTold) isSameTold = await callAs(same);
      const isNewTold = await inNewSession();
      if (!isStdioTold) isStdioTold = await callAs(stdio);
      if (!isKilled && performance.now() - beganAt > (BLOCKS_SECONDS * 1000) / 3) {
        isKilled = true;
        killed();
        // While a call is waiting in it.
        const struck = callAs(same);
        await world.gateway.kill();
        await struck;
        await inNewSession();
        await world.gateway.start();
      }
      if (isSameTold && isNewTold && isStdioTold) break;
    }
    console.log(
      `full scale: ${answers} answers to ${callers.size} callers, ${counts.unanswered} calls to a dead gateway`,
    );
    // Fewer on a busy machine, where a round of retries takes longer.
    if (answers < 6 || counts.unanswered < 1 || intent.outcomes.length < 3)
      throw new Error("too few retries: they show nothing");
    if (intent.outcomes.some(({ reported }) => reported.status !== "completed"))
      throw new Error(`not completed: ${JSON.stringify(intent.outcomes)}`);

    // Hours of agents' habits later: every caller reads the same.
    const reader = await http();
    for (let time = 1; time <= 3; time += 1)
      intent.note(await reader.call("get_operation_result", { log_id: intent.logId }));
  },
};
