/** Many MCP sessions over HTTP, by the official client, that call at fixed times: an answer that is late delays no other call. */

import { setTimeout as after } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { answerIn } from "../../harness/mcp/answer-in.js";
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { answerParent, endWithParent, tellParent } from "../bench/floors/child-process.js";
import { type Offer, type Offered, type SessionsSettings, TOOL } from "./settings.js";

const { url, tokens, sessions, name } = JSON.parse(process.argv[2] ?? "") as SessionsSettings;
/** A wait that a call needs only when something is wrong, s. */
const WAIT_S = 30;

const clients: Client[] = [];
for (let at = 0; at < sessions; at += 1) {
  const client = new Client({ name: `${name} ${at}`, version: "1" });
  const headers = { authorization: `Bearer ${tokens[at % tokens.length]}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  // The SDK's transports and its own interface disagree on exact optional properties.
  await client.connect(transport as Transport);
  clients.push(client);
}

/** Undefined: completed by an execution of its own, with its own result. */
async function wrongWith(text: string, editor: string, client: Client): Promise<string | undefined> {
  try {
    const call = { name: TOOL, arguments: { Text: text, editor, timeout: WAIT_S } };
    const answer = answerIn<CallAnswer>(
      await client.callTool(call, undefined, { timeout: 2 * WAIT_S * 1_000 }),
    );
    const isOwn = (answer.result as { Text?: string } | undefined)?.Text === text && answer.editor === editor;
    const isGood = answer.status === "completed" && isOwn && !answer.deduplicated;
    return isGood ? undefined : `${text}: ${JSON.stringify(answer).slice(0, 300)}`;
  } catch (error) {
    return `${text}: ${(error as Error).message}`;
  }
}

async function offer({ editors, perSecond, seconds }: Offer): Promise<Offered> {
  const count = Math.round(perSecond * seconds);
  const offered: Offered = { sent: 0, completed: 0, wrong: [], calls: [], lateMs: [] };
  const open: Promise<void>[] = [];
  const begun = performance.now();
  for (let at = 0; at < count; at += 1) {
    const due = begun + (at * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await after(early);
    offered.lateMs.push(performance.now() - due);
    offered.sent += 1;
    const [client, editor] = [clients[at % clients.length], editors[at % editors.length]] as [Client, string];
    const answered = wrongWith(`${name} call ${at}`, editor, client).then((wrong) => {
      offered.calls.push([due - begun, performance.now() - due]);
      if (wrong === undefined) offered.completed += 1;
      else offered.wrong.push(wrong);
    });
    open.push(answered);
  }
  await Promise.all(open);
  return offered;
}

answerParent(offer);
endWithParent(async () => void (await Promise.all(clients.map((client) => client.close()))));
tellParent({ sessions: clients.length });
