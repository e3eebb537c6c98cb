/**
 * What a body may cost before anybody knows whether it may do anything: in this order its token, its size, its values and levels, its
 * JSON, the role that its tool needs, and only then what its arguments hold. Each refusal is that of the first one that is wrong.
 */
import { expect, test } from "vitest";
import { INITIALIZE, post } from "../../harness/mcp/mcp.js";
import { restClient } from "../../harness/rest/rest-client.js";
import { useSocketClients } from "../../harness/rest/socket-client.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);
const { connect } = useSocketClients();

/** A surface answers to the arguments of a call as they are written, by this token. */
type Surface = (args: string, authorization: string) => Promise<{ status: number; said: string }>;

async function surfaces(): Promise<{ by: Record<string, Surface>; reader: string; writer: string }> {
  const { url, origin, bearer } = await open();
  const reader = (await bearer("reader", { role: "read" })).authorization;
  const writer = (await bearer("writer")).authorization;
  const mcp = (args: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":${args}}}`;
  const sessions = new Map<string, string>();
  for (const authorization of [reader, writer])
    sessions.set(
      authorization,
      (await post(url, INITIALIZE, { headers: { authorization } })).sessionId ?? "",
    );
  let id = 0;
  return {
    reader,
    writer,
    by: {
      async "/mcp"(args, authorization) {
        const { status, messages } = await post(url, mcp(args), {
          session: sessions.get(authorization) ?? "none",
          headers: { authorization },
        });
        return { status, said: JSON.stringify(messages) };
      },
      async "/api/v1/operations"(args, authorization) {
        const client = restClient(origin, { authorization });
        const { status, body } = await client.post("/operations", `{"tool":"work","arguments":${args}}`);
        return { status, said: JSON.stringify(body) };
      },
      async "/api/v1/ws"(args, authorization) {
        const { say, next, socket } = await connect(origin, { authorization });
        id += 1;
        const closed = new Promise<number>((resolve) => socket.once("close", resolve));
        say(`{"type":"submit","tool":"work","arguments":${args},"id":${id}}`);
        const answered = await Promise.race([next(({ type }) => type === "answer", "its answer"), closed]);
        if (typeof answered === "number") return { status: answered, said: "" };
        return { status: answered.status, said: JSON.stringify(answered.body) };
      },
    },
  };
}

const MANY = `{"Name":"a","Data":[${"1,".repeat(20_000)}no JSON]}`;
const DEEP = `{"Name":"a","Data":${"[".repeat(300)}no JSON${"]".repeat(300)}}`;

/** The arguments; each is wrong in every later way as well. The status at /mcp, REST and the WebSocket, and what is said. */
const REFUSED: [string, string, "stranger" | "reader" | "writer", number[], string][] = [
  ["no token", `${MANY}${" ".repeat(5_000_000)}`, "stranger", [401, 401], "no token|UNAUTHORIZED"],
  [
    "its size",
    `${MANY}${" ".repeat(5_000_000)}`,
    "reader",
    [413, 413, 1009],
    "larger than 4194304 bytes.*Write the data to a file|^$",
  ],
  ["its values", MANY, "reader", [200, 413, 413], "more than 20000 JSON values.*Write the data to a file"],
  ["its levels", DEEP, "reader", [200, 400, 400], "deeper than 210 levels.*Flatten"],
  ["its JSON", `{"Name":9007199254740993`, "reader", [400, 400, 400], "not JSON"],
  ["its role", `{"Name":9007199254740993}`, "reader", [200, 403, 403], "FORBIDDEN"],
  ["what it holds", `{"Name":9007199254740993}`, "writer", [200, 400, 400], "INTEGER_TOO_LARGE"],
];

test.each(REFUSED)("%s is judged before what follows", async (_what, args, who, statuses, said) => {
  const { by, ...tokens } = await surfaces();
  const authorization = who === "stranger" ? "" : tokens[who];
  const asked = Object.entries(by).slice(0, statuses.length);
  for (const [at, [name, send]] of asked.entries()) {
    const answered = await send(args, authorization);
    expect(answered, name).toEqual({ status: statuses[at], said: expect.stringMatching(said) });
  }
});

test("a long text of few values is no matter", async () => {
  const { by, writer } = await surfaces();
  for (const [name, send] of Object.entries(by)) {
    const text = name.padEnd(600_000, '\\"[{,:');
    const { status, said } = await send(JSON.stringify({ Name: name, Data: text }), writer);
    expect(status, name).toBe(200);
    expect(said, name).toContain("completed");
  }
});

test("what no surface reads is not parsed: nobody learns that it is no JSON", async () => {
  const { origin, bearer } = await open();
  const headers = { ...(await bearer("reader", { role: "read" })), "content-type": "application/json" };
  for (const path of ["/nowhere", "/operators", "/dashboard/api/queues/a/pause"]) {
    const { status } = await fetch(`${origin}${path}`, { method: "POST", headers, body: "[[[" });
    expect(status, path).toBeOneOf([404, 405]);
  }
});
