/**
 * The bug that must never happen again, at full scale: a menu item that blocks Unity's main thread for 35 s, longer
 * than any frame timeout, is called with a wait of 1 s and retried by everybody, with the gateway killed in between.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Told } from "../harness/process-clients.js";
import type { World } from "../harness/process-world.js";
import { createListener, wrongAnswers } from "./answers.js";
import { isTold } from "./stage.js";

export interface Heard {
  caller: string;
  answers: Told[];
}

export interface Regression {
  heard: Heard[];
  /** Answers that never came: the gateway was dead. */
  lost: number;
  /** What was wrong with an answer by itself. */
  wrong: string[];
}

const BLOCKS_SECONDS = 35;
export const MENU_ITEM = `Simulator/Block For ${BLOCKS_SECONDS} Seconds`;
const CALL = { name: "execute-menu-item", arguments: { MenuItemPath: MENU_ITEM, timeout: 1 } };

/** Plays it; what each caller heard, in order. */
export async function playRegression(world: World): Promise<Regression> {
  const heard: Heard[] = [];
  const listener = createListener(() => MENU_ITEM);
  let lost = 0;

  const callAs = async (client: Client, answers: Told[]): Promise<boolean> => {
    const note = listener.asks(
      `#${heard.flatMap((each) => each.answers).length + lost}`,
      CALL.name,
      CALL.arguments,
    );
    try {
      const told = (await client.callTool(CALL)).structuredContent as Told;
      note(told);
      answers.push(told);
      return isTold(told);
    } catch {
      lost += 1;
      return false;
    }
  };
  const listen = (caller: string): Told[] => {
    const answers: Told[] = [];
    heard.push({ caller, answers });
    return answers;
  };
  const inNewSession = async (name: string): Promise<boolean> => {
    const answers = listen(name);
    const client = new Client({ name, version: "1" });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(world.url())));
      return await callAs(client, answers);
    } catch {
      lost += 1;
      return false;
    } finally {
      await client.close();
    }
  };

  const same = new Client({ name: "same-client", version: "1" });
  await same.connect(new StreamableHTTPClientTransport(new URL(world.url())));
  const sameHeard = listen("the same client");
  await callAs(same, sameHeard);
  const beganAt = performance.now();

  const stdio = new Client({ name: "stdio-client", version: "1" });
  const transport = new StdioClientTransport({ ...(await world.stdioServer()), stderr: "ignore" });
  try {
    await stdio.connect(transport);
    world.processes.guard(transport.pid ?? 0);
    const stdioHeard = listen("a second process, over stdio");
    let isStdioTold = false;
    let isKilled = false;
    for (let round = 1; ; round += 1) {
      if (round > 200) throw new Error("200 rounds of retries, and no outcome");
      const isSameTold = await callAs(same, sameHeard);
      const isNewTold = await inNewSession(`reconnected client ${round}`);
      // Over stdio another call after the outcome would be meant: one outcome is enough.
      if (!isStdioTold) isStdioTold = await callAs(stdio, stdioHeard);
      if (!isKilled && performance.now() - beganAt > (BLOCKS_SECONDS * 1000) / 3) {
        isKilled = true;
        // While a call is waiting in it.
        const struck = callAs(same, sameHeard);
        await world.gateway.kill();
        await struck;
        await inNewSession("a client that finds nobody");
        await world.gateway.start();
      }
      if (isSameTold && isNewTold && isStdioTold) break;
    }
  } finally {
    await stdio.close();
    await same.close();
  }
  const executions = await world.editor.executions();
  const wrong = wrongAnswers(
    listener.heard,
    executions.map(({ operationId, what, at }) => ({ operationId, call: what, at })),
  );
  return { heard, lost, wrong: wrong.map(({ what }) => what) };
}
