/** Whatever fails in Redis, every surface names it: STORE_FULL or STORE_UNAVAILABLE, never a defect of the broker. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { INITIALIZE, post, toolCall } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http, serve } = useMcpCallers();

interface Fault {
  code: string;
  begin(redis: Redis): Promise<unknown>;
  end(redis: Redis): Promise<unknown>;
}

/** Where a snapshot goes: not while a folder stands there. */
async function snapshotIn(redis: Redis): Promise<string> {
  const [, folder = ""] = (await redis.config("GET", "dir")) as string[];
  const [, name = ""] = (await redis.config("GET", "dbfilename")) as string[];
  return join(folder, name);
}

/** The next snapshot fails, as on a full disk, and Redis refuses writes. */
const SNAPSHOT_FAILS: Fault = {
  code: "STORE_UNAVAILABLE",
  async begin(redis) {
    mkdirSync(join(await snapshotIn(redis), "in the way"), { recursive: true });
    await redis.config("SET", "save", "3600 1");
    await redis.bgsave();
    const hasFailed = async () => (await redis.info("persistence")).includes("rdb_last_bgsave_status:err");
    await eventually(hasFailed, "the snapshot fails");
  },
  async end(redis) {
    await redis.config("SET", "save", "");
    rmSync(await snapshotIn(redis), { recursive: true });
  },
};

const FAULTS: Record<string, Fault> = {
  "no memory is left": {
    code: "STORE_FULL",
    begin: (redis) => redis.config("SET", "maxmemory", "1"),
    end: (redis) => redis.config("SET", "maxmemory", "0"),
  },
  "its disk takes nothing": SNAPSHOT_FAILS,
  "it became the replica of a server that is away": {
    code: "STORE_UNAVAILABLE",
    begin: async (redis) => {
      await redis.config("SET", "replica-serve-stale-data", "no");
      await redis.call("REPLICAOF", "127.0.0.1", "1");
    },
    end: async (redis) => {
      await redis.call("REPLICAOF", "NO", "ONE");
      await redis.config("SET", "replica-serve-stale-data", "yes");
    },
  },
};

const KEYED = { Name: "before", idempotency_key: "one" };

test.each(Object.entries(FAULTS))("%s", async (_name, { code, begin, end }) => {
  const { bench, editor, gateway, hand } = await start({ commandTimeoutMs: 2_000 });
  const served = await serve(gateway);
  const caller = await http(served);
  const { log_id = "" } = await caller.call("work", KEYED);
  const { log_id: held = "" } = await caller.call("work", { Name: "held", Hold: true, timeout: 0 });
  const api = new URL("/api/v1/", served.url);
  const { paths } = (await (await fetch(new URL("openapi.json", api))).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const idFor = (path: string): string =>
    path.includes("/editors/") ? editor.editorId : path.includes("/tools/") ? "work" : log_id;
  const asked = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ["get", "post", "delete"].includes(method) && !/events|stream|socket/.test(path))
      .map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{[^}]*\}/g, idFor(path)) })),
  );
  expect(asked.length).toBeGreaterThan(10);
  const answers: { what: string; said: string }[] = [];
  const keep = async (what: string, answer: Promise<Response>): Promise<void> => {
    const response = await answer;
    answers.push({ what, said: `${response.status} ${(await response.text()).slice(0, 2_000)}` });
  };
  await begin(hand);
  try {
    const { session } = caller;
    for (const [what, message] of [
      ["a new session", INITIALIZE],
      ["tools/list", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
      ["a call", toolCall(2, "work", { Name: "refused" })],
      ["the same call again", toolCall(5, "work", { Name: "held", Hold: true, timeout: 0 })],
      ["an outcome that is recorded", toolCall(9, "work", KEYED)],
      ["a choice", toolCall(6, "select_editor", { editor: editor.editorId })],
      ["a cancellation", toolCall(7, "cancel_operation", { log_id: held })],
      ["a filter", toolCall(8, "fetch_cached_response", { log_id, cache_id: log_id, action: "info" })],
      ["a result", toolCall(3, "get_operation_result", { log_id })],
      ["a list", toolCall(4, "list_operations", {})],
    ] as const) {
      const answered = await post(served.url, message, what === "a new session" ? {} : { session });
      answers.push({ what, said: JSON.stringify(answered) });
    }
    for (const { method, path } of asked) {
      const headers = { "content-type": "application/json", "x-unity-broker-page": "1" };
      const body =
        method === "POST"
          ? { body: JSON.stringify({ tool: "work", arguments: { Name: "held", Hold: true } }) }
          : {};
      await keep(`${method} ${path}`, fetch(new URL(path, served.url), { method, headers, ...body }));
    }
    for (const path of ["/readyz", "/operators/login", "/operators/editors"])
      await keep(`GET ${path}`, fetch(new URL(path, served.url)));
  } finally {
    await end(hand);
  }
  bench.finish("held");
  expect(answers.filter(({ said }) => /INTERNAL|defect|NOT_FOUND|^500|-32603/.test(said))).toEqual([]);
  expect(answers.find(({ what }) => what === "a call")?.said).toContain(code);
});
