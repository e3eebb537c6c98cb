/** Every MCP method and every tool of the broker, by who asks: without a token that holds, of another principal, by role. */
import { describe, expect, test } from "vitest";
import { BROKER_TOOLS } from "../../../src/gateway/mcp/tools/broker-tools.js";
import { ROLES } from "../../../src/shared/principal.js";
import { INITIALIZE, post, type RpcAnswer, toolCall } from "../../harness/mcp/mcp.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

const WORK = { Name: "a", timeout: 30 };
const rpc = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 7, method, params });

/** What is asked about this operation. */
const METHODS: Record<string, (logId: string) => object> = {
  ping: () => rpc("ping"),
  "tools/list": () => rpc("tools/list"),
  "resources/list": () => rpc("resources/list"),
  "resources/templates/list": () => rpc("resources/templates/list"),
  "resources/read": (logId) => rpc("resources/read", { uri: `unity-broker://results/${logId}` }),
  "resources/subscribe": (logId) => rpc("resources/subscribe", { uri: `unity-broker://results/${logId}` }),
  "resources/unsubscribe": (logId) =>
    rpc("resources/unsubscribe", { uri: `unity-broker://results/${logId}` }),
  "completion/complete": () =>
    rpc("completion/complete", {
      ref: { type: "ref/resource", uri: "unity-broker://results/{log_id}{?offset,length}" },
      argument: { name: "log_id", value: "" },
    }),
  "prompts/list": () => rpc("prompts/list"),
  "prompts/get": () => rpc("prompts/get", { name: "after_a_timeout" }),
  "logging/setLevel": () => rpc("logging/setLevel", { level: "debug" }),
  "an operation's state": (logId) => rpc("resources/read", { uri: `unity-broker://operations/${logId}` }),
  "a tool that reads": () => toolCall(7, "get-hierarchy", { timeout: 30 }),
  "a tool that changes": () => toolCall(7, "work", WORK),
  "a tool that changes, as a task": () =>
    rpc("tools/call", { name: "work", arguments: { Name: "a" }, task: {} }),
  "tasks/get": (taskId) => rpc("tasks/get", { taskId }),
  "tasks/result": (taskId) => rpc("tasks/result", { taskId }),
  "tasks/list": () => rpc("tasks/list"),
  "tasks/cancel": (taskId) => rpc("tasks/cancel", { taskId }),
  "tools/call_async": () => rpc("tools/call_async", { name: "work", arguments: WORK }),
  "tools/progress": (log_id) => rpc("tools/progress", { log_id }),
  "tools/result": (log_id) => rpc("tools/result", { log_id }),
  get_operation_result: (log_id) => toolCall(7, "get_operation_result", { log_id }),
  get_operation_status: (log_id) => toolCall(7, "get_operation_status", { log_id }),
  cancel_operation: (log_id) => toolCall(7, "cancel_operation", { log_id }),
  explain_operation: (log_id) => toolCall(7, "explain_operation", { log_id }),
  fetch_cached_response: (log_id) => toolCall(7, "fetch_cached_response", { cache_id: log_id }),
  list_operations: () => toolCall(7, "list_operations"),
  list_editors: () => toolCall(7, "list_editors"),
  select_editor: () => toolCall(7, "select_editor", { editor: "game-1" }),
  list_unity_tools: () => toolCall(7, "list_unity_tools"),
  call_unity_tool: () => toolCall(7, "call_unity_tool", { tool: "work", arguments: WORK }),
};

/** In one word. */
function wordOf(status: number, answer: RpcAnswer | undefined): string {
  if (status !== 200) return String(status);
  if (answer?.error) return `error ${answer.error.code}`;
  const reported = answer?.result?.structuredContent;
  if (!reported) return "ok";
  return reported.status === "error"
    ? String(reported.error_code)
    : reported.status === "not_found"
      ? "not found"
      : "ok";
}

async function stage() {
  const gateway = await open();
  const { url, tokens } = gateway;
  const ask = async (token: string | undefined, session: string | undefined, message: object) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const posted = await post(url, message, { headers, ...(session === undefined ? {} : { session }) });
    return { ...posted, word: wordOf(posted.status, posted.messages.at(-1)) };
  };
  /** A session with an operation of its own, which every role may make. */
  const enter = async (token: string) => {
    const { sessionId } = await ask(token, undefined, INITIALIZE);
    const session = sessionId ?? "";
    await ask(token, session, { jsonrpc: "2.0", method: "notifications/initialized" });
    const made = await ask(token, session, toolCall(1, "get-hierarchy", { timeout: 30 }));
    const logId = String(made.messages.at(-1)?.result?.structuredContent?.log_id);
    return { token, session, logId };
  };
  const words = async (token: string | undefined, session: string, logId: string) => {
    const found: Record<string, string> = {};
    for (const [name, message] of Object.entries(METHODS))
      found[name] = (await ask(token, session, message(logId))).word;
    return found;
  };
  return { ...gateway, tokens, ask, enter, words };
}

/** Every method the same, but for these. */
const all = (word: string, but: Record<string, string> = {}): Record<string, string> => ({
  ...Object.fromEntries(Object.keys(METHODS).map((name) => [name, word])),
  ...but,
});

/** Of an operation that has ended. */
const ENDED = { "tasks/cancel": "error -32602" };

/** Each method that may run the same change does; only the task, whose outcome nobody has asked for yet, answers the next one. */
const EXECUTIONS = 3;

/** What the role may not do. */
const forbidden = (role: (typeof ROLES)[number]): Record<string, string> =>
  role === "read"
    ? {
        "a tool that changes": "FORBIDDEN",
        "a tool that changes, as a task": "error -32003",
        "tools/call_async": "FORBIDDEN",
        call_unity_tool: "FORBIDDEN",
      }
    : {};

/** Ann's session and operation, and who has no right to them. */
describe("another's session", () => {
  test("is closed to everybody without a token that holds, and not found with another principal's", async () => {
    const { tokens, ask, enter, words, system } = await stage();
    const ann = await enter(await tokens.create("ann"));
    const expired = await tokens.create("expired", { role: "admin" }, new Date(Date.now() - 1));
    const revoked = await tokens.create("revoked", { role: "admin" });
    await tokens.revoke("revoked");
    for (const token of [undefined, "ujb_wrong", expired, revoked]) {
      expect(await words(token, ann.session, ann.logId), token).toEqual(all("401"));
      expect((await ask(token, undefined, INITIALIZE)).word).toBe("401");
    }
    for (const role of ROLES) {
      const token = await tokens.create(role, { role });
      expect(await words(token, ann.session, ann.logId), role).toEqual(all("404"));
    }
    expect(system.executions("a")).toBe(0);
    expect(await words(ann.token, ann.session, ann.logId)).toEqual(all("ok", ENDED));
    expect(system.executions("a")).toBe(EXECUTIONS);
  });
});

describe("an own session", () => {
  test.each(ROLES)("with the role %s does what the role may", async (role) => {
    const { tokens, enter, words, system } = await stage();
    const own = await enter(await tokens.create("ann", { role }));
    expect(await words(own.token, own.session, own.logId)).toEqual(
      all("ok", { ...forbidden(role), ...ENDED }),
    );
    expect(system.executions("a")).toBe(role === "read" ? 0 : EXECUTIONS);
  });

  test.each(ROLES)("with the role %s finds nothing of another's operation", async (role) => {
    const { tokens, enter, words, system } = await stage();
    const ann = await enter(await tokens.create("ann"));
    const ben = await enter(await tokens.create("ben", { role }));
    const unknown = "not found";
    expect(await words(ben.token, ben.session, ann.logId)).toEqual(
      all("ok", {
        ...forbidden(role),
        "tasks/get": "error -32602",
        "tasks/result": "error -32602",
        "tasks/cancel": "error -32602",
        "resources/read": "error -32002",
        "an operation's state": "error -32002",
        "tools/progress": unknown,
        "tools/result": unknown,
        get_operation_result: unknown,
        get_operation_status: unknown,
        cancel_operation: unknown,
        explain_operation: unknown,
        fetch_cached_response: unknown,
      }),
    );
    expect((await system.record(ann.logId)).state).toBe("completed");
  });
});

test("no tool of the broker is left out", () => {
  expect(Object.keys(METHODS)).toEqual(expect.arrayContaining([...BROKER_TOOLS.keys()]));
});
