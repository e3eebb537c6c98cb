/** A Valkey as the store: found by the private server's own search, and behind the processes of an installation. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureEmbeddedRedis } from "../../../src/embedded-redis/embedded-redis.js";
import { keys, SCHEMA_VERSION } from "../../../src/shared/store/keys.js";
import { openStore } from "../../../src/shared/store/store.js";
import { startWorld } from "../../harness/processes/process-world.js";
import { findValkey, pathOfValkey } from "../../harness/programs/valkey.js";
import { createDataDirectory } from "../../harness/redis/redis.js";
import { containerEngineAnswers } from "../../harness/redis/redis-container.js";

const valkey = await findValkey();
if ("missing" in valkey) console.log(`The tests with Valkey are SKIPPED: ${valkey.missing}`);
const isContainer = await containerEngineAnswers();

describe.skipIf("missing" in valkey)("Valkey", () => {
  const withValkey = async (act: (path: string) => Promise<void>): Promise<void> => {
    if ("missing" in valkey) return;
    const folder = mkdtempSync(join(tmpdir(), "ujb-valkey-"));
    try {
      await act(`${pathOfValkey(valkey, folder)}:${process.env.PATH}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  it("on PATH is the private server, and is accepted", () =>
    withValkey(async (PATH) => {
      const data = createDataDirectory();
      const cacheDir = join(data.dataDir, "no cache");
      const env = { ...process.env, PATH };
      const options = { dataDir: data.dataDir, cacheDir, env, say: () => undefined };
      const { address } = await ensureEmbeddedRedis(options);
      const reported: string[] = [];
      const store = await openStore(address, {
        retentionMs: 60_000,
        onError: ({ message }) => reported.push(message),
      });
      expect(store.redisCheck).toMatchObject({
        describes: expect.stringMatching(/^Valkey \d+\.\d+\.\d+, AOF always$/),
        concerns: [],
      });
      expect(reported).toEqual([]);
      await store.close();
      await data.remove();
    }));

  // A container engine would start Redis.
  it.skipIf(isContainer)("keeps an operation: run once, answered again after the gateway was killed", () =>
    withValkey(async (path) => {
      const before = process.env.PATH;
      process.env.PATH = path;
      const world = await startWorld().finally(() => {
        process.env.PATH = before;
      });
      try {
        expect(await world.hand.info("server")).toMatch(/^valkey_version:\d/m);
        expect(await world.hand.get(keys.schema)).toBe(String(SCHEMA_VERSION));
        // With a key it is one operation, whether the gateway could note before it died that its answer was read.
        const args = { MenuItemPath: "Assets/Refresh", idempotency_key: "once", timeout: 20 };
        const call = ["execute-menu-item", args] as const;
        const first = await world.http();
        const answer = await first.call(...call);
        expect(answer).toMatchObject({ status: "completed" });
        await first.close();
        await world.gateway.kill();
        await world.gateway.start();
        const second = await world.http();
        const { log_id, result } = answer;
        expect(await second.call(...call)).toMatchObject({ deduplicated: true, log_id, result });
        expect(await second.call("get_operation_result", { log_id })).toMatchObject({ result });
        await second.close();
        expect(await world.editor.executions("Assets/Refresh")).toHaveLength(1);
      } finally {
        await world.close();
      }
    }),
  );
});
