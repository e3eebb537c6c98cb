/** What limits a WebSocket: its messages count as requests of its principal, and it shows what that may see now. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { restClient } from "../../harness/rest/rest-client.js";
import { useSocketClients } from "../../harness/rest/socket-client.js";
import { eventually, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const tokenGateway = useTokenGateway(start);
const { connect } = useSocketClients();

const isAnswer = ({ type }: { type: string }): boolean => type === "answer";

test.each([
  ["that are served", (id: number) => ({ type: "unfollow", id })],
  ["that are no messages", () => "{"],
])(
  "too many messages %s are answered so, the connection stays, and another is served",
  async (_what, message) => {
    const { origin, bearer } = await tokenGateway.open({ callsPerSecond: 5 });
    const ann = await connect(origin, await bearer("ann"));
    const ben = await connect(origin, await bearer("ben"));
    for (let at = 1; at <= 20; at += 1) ann.say(message(at));
    await eventually(() => ann.heard.filter(isAnswer).length === 20, "all are answered");
    const refused = ann.heard.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0].body).toMatchObject({ error_code: "RATE_LIMITED", retry: "safe", status: 429 });
    ben.say({ type: "unfollow", id: "other" });
    expect(await ben.answer("other")).toMatchObject({ status: 200 });
    let asked = 0;
    await eventually(async () => {
      asked += 1;
      ann.say({ type: "unfollow", id: `again ${asked}` });
      return (await ann.answer(`again ${asked}`)).status === 200;
    }, "served again");
  },
);

test("messages and requests of a principal have one count", async () => {
  const { origin, bearer } = await tokenGateway.open({ callsPerSecond: 5 });
  const headers = await bearer("ann");
  const client = await connect(origin, headers);
  const rest = restClient(origin, headers);
  const seen: number[] = [];
  // A second may end in between; these requests alone are too few for the limit.
  for (let round = 0; round < 3 && !seen.includes(429); round += 1) {
    const before = client.heard.length;
    for (let at = 0; at < 20; at += 1) client.say({ type: "unfollow" });
    await eventually(() => client.heard.length === before + 20, "all are answered");
    seen.push((await rest.get("/me")).status);
  }
  expect(seen).toContain(429);
});

test("a role that ends while a WebSocket is open ends it, before it shows anything more of others", async () => {
  const { system, origin, bearer, tokens } = await tokenGateway.open();
  const op = await connect(origin, await bearer("op", { role: "operate" }));
  op.say({ type: "follow", id: 1, filter: { principal: "*" } });
  await op.event("ready");
  const closed = once(op.socket, "close");
  await tokens.grant("op", { role: "read" });
  const ann = restClient(origin, await bearer("ann"));
  const { body } = await ann.post("/operations", { tool: "work", arguments: { Name: "a" }, timeout: 30 });
  await eventually(() => op.socket.readyState === op.socket.CLOSED, "it is closed");
  const [code] = await closed;
  expect(code).toBe(1011);
  expect(JSON.stringify(op.heard)).not.toContain(body.log_id);
  expect(system.executions("a")).toBe(1);
});
