/** Planted secrets, looked for wherever something is written or shown; with redaction off the same look finds them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog, withoutSecrets } from "../../../src/cli/processes/runtime.js";
import { createAudit } from "../../../src/gateway/auth/audit.js";
import { createTokens } from "../../../src/gateway/auth/tokens.js";
import { createGateway } from "../../../src/gateway/gateway.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { INITIALIZE, post, toolCall } from "../../harness/mcp/mcp.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => unknown)[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-secrets-"));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

const PASSWORD = "planted-password";
const ARGUMENT = "planted-argument";
const PROOF = "ab".repeat(32);

const textsIn = (place: string): string =>
  readdirSync(place, { withFileTypes: true })
    .map((entry) =>
      entry.isDirectory() ? textsIn(join(place, entry.name)) : readFileSync(join(place, entry.name), "utf8"),
    )
    .join("\n");

test.each([
  ["on", withoutSecrets, false],
  ["off", (line: string) => line, true],
] as const)("with redaction %s: in logs", (_, redact, isFound) => {
  const token = `ujb_${"t0ken-".repeat(7)}`;
  const config = { UNITY_BROKER_LOG_LEVEL: "silent", MCP_DEBUG: folder } as const;
  const log = createLog(config, { dataDir: folder, command: "test" }, redact);
  log.warn({ error: `connect redis://broker:${PASSWORD}@10.0.0.1:6379 failed` }, "Redis");
  log.warn({ headers: { authorization: `Bearer ${token}` } }, `a request with ${token} was refused`);
  log.debug({ hello: { token: PROOF, nested: { proof: PROOF } } }, "hello");
  const text = textsIn(folder);
  expect(text).toContain("was refused");
  for (const secret of [PASSWORD, token, PROOF]) expect(text.includes(secret), secret).toBe(isFound);
});

describe("after a call", () => {
  test("neither its arguments nor its caller's token are in jobs, metrics, dashboard, audit or logs", async () => {
    const log = createLog(
      { UNITY_BROKER_LOG_LEVEL: "silent", MCP_DEBUG: join(folder, "logs") },
      { dataDir: folder, command: "test" },
    );
    const tokens = createTokens(join(folder, "tokens.json"));
    const audit = createAudit(join(folder, "audit"), log, { keptDays: 2 });
    const system = await start();
    const gateway = createGateway({ store: system.store, log, principals: tokens, audit });
    closers.push(gateway.close, audit.close);
    const http = await createHttpGateway(
      { gateway, log, version: "0", auth: tokens },
      { host: "127.0.0.1", port: 0 },
    );
    closers.push(http.close);
    const token = await tokens.create("ann", { role: "operate" });
    const headers = { authorization: `Bearer ${token}` };
    const session = (await post(http.url, INITIALIZE, { headers })).sessionId ?? "";
    const ask = (id: number, args: object) =>
      post(http.url, toolCall(id, "work", { Name: "a", timeout: 30, ...args }), { session, headers });
    const answer = await ask(1, { Data: ARGUMENT });
    expect(JSON.stringify(answer.messages)).toContain("completed");
    // Refused, by the schema and by a key that is taken: errors tend to quote.
    await ask(2, { Data: ARGUMENT, Hold: ARGUMENT });
    await ask(3, { Data: ARGUMENT, idempotency_key: "k" });
    await ask(4, { Data: `${ARGUMENT}2`, idempotency_key: "k" });
    await fetch(http.url, { method: "POST", headers: { authorization: `Bearer ${token}x` } });

    const { origin } = new URL(http.url);
    const page = async (path: string) => (await fetch(`${origin}${path}`, { headers })).text();
    const jobs: string[] = [];
    for (const key of await system.hand.keys("*")) {
      if (key.startsWith("{ujb}:") && !key.includes(":bull:")) continue;
      const kind = await system.hand.type(key);
      if (kind === "hash") jobs.push(JSON.stringify(await system.hand.hgetall(key)));
      if (kind === "stream") jobs.push(JSON.stringify(await system.hand.xrange(key, "-", "+")));
    }
    expect(jobs.join("")).toContain("logId");
    const places = {
      jobs: jobs.join("\n"),
      metrics: await page("/metrics"),
      dashboard: await page("/dashboard/api/queues?status=latest&page=1&jobsPerPage=50"),
      audit: await audit.read(),
      logs: textsIn(join(folder, "logs")),
      "token file": readFileSync(join(folder, "tokens.json"), "utf8"),
    };
    for (const [place, text] of Object.entries(places)) {
      expect(text, place).not.toBe("");
      expect(text.includes(ARGUMENT), `arguments in ${place}`).toBe(false);
      expect(text.includes(token.slice(4)), `token in ${place}`).toBe(false);
    }
    // The look finds what is there: arguments wait for their Editor beside the record.
    const record = await system.hand.keys("{ujb}:operation:*");
    const kept = await Promise.all(record.map((key) => system.hand.hget(key, "arguments")));
    expect(kept.join("")).toContain(ARGUMENT);
  });
});
