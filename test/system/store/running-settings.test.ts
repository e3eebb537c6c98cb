/** A Redis that was restarted, or failed over, with settings that lose data is noticed while the broker runs. */
import { expect, test } from "vitest";
import { openStore } from "../../../src/shared/store/store.js";
import { eventually } from "../../harness/eventually.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start, redis } = useSystem();
const { http, serve } = useMcpCallers();

test("one that evicts after a reconnection: new calls are refused, what is known is read, and it heals by itself", async () => {
  const { gateway, hand, warnings, bench, executions } = await start();
  const served = await serve(gateway);
  const caller = await http(served);
  const ready = async () => {
    const response = await fetch(new URL("/readyz", served.url));
    return { ...((await response.json()) as object), http: response.status };
  };
  const { log_id } = await caller.call("work", { Name: "before" });
  expect(await ready()).toEqual({ status: "ready", http: 200 });
  await hand.config("SET", "maxmemory-policy", "allkeys-lru");
  try {
    await hand.call("CLIENT", "KILL", "TYPE", "normal");
    await eventually(async () => (await ready()).http === 503, "the gateway has seen it");
    const unfit = {
      error_code: "STORE_UNFIT",
      message: expect.stringContaining("maxmemory-policy allkeys-lru"),
    };
    expect(await caller.call("work", { Name: "refused" })).toMatchObject({ status: "error", ...unfit });
    expect(await caller.call("get_operation_result", { log_id })).toMatchObject({ status: "completed" });
    expect(await caller.call("list_editors")).toMatchObject({ refuses_calls: unfit });
    expect(await ready()).toMatchObject({ http: 503, missing: ["redis"], ...unfit });
    expect(warnings.filter((line) => line.includes("Redis evicts data")).length).toBeGreaterThan(0);
  } finally {
    await hand.config("SET", "maxmemory-policy", "noeviction");
  }
  expect(await caller.call("work", { Name: "after" })).toMatchObject({ status: "completed" });
  expect(await ready()).toEqual({ status: "ready", http: 200 });
  expect(bench.begun).toEqual(["before", "after"]);
  expect(executions("refused")).toBe(0);
});

test("one whose settings are changed while it runs: noticed by the look at them, and said once", async () => {
  const { hand } = await start({ worker: null });
  const said: string[] = [];
  let told: () => void = () => undefined;
  const isTold = new Promise<void>((resolve) => {
    told = resolve;
  });
  const store = await openStore(redis().connection, {
    retentionMs: 60_000,
    fitnessCheckMs: 20,
    onError: ({ message }) => {
      said.push(message);
      told();
    },
  });
  try {
    await hand.config("SET", "maxmemory-policy", "volatile-ttl");
    await isTold;
    await expect(store.assertFit()).rejects.toMatchObject({ code: "STORE_UNFIT" });
    await expect(store.assertFit()).rejects.toMatchObject({ code: "STORE_UNFIT" });
    await hand.config("SET", "maxmemory-policy", "noeviction");
    await store.assertFit();
    expect(said).toEqual([expect.stringContaining("maxmemory-policy volatile-ttl")]);
  } finally {
    await hand.config("SET", "maxmemory-policy", "noeviction");
    await store.close();
  }
});
