/** Whose operations a principal sees and ends over REST, what operators may do beyond that, and that the audit log says who did it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createAudit } from "../../../src/gateway/auth/audit.js";
import { createGateway } from "../../../src/gateway/gateway.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { restClient } from "../../harness/rest/rest-client.js";
import { SILENT } from "../../harness/silent.js";
import { eventually, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const gateways = useTokenGateway(start);

async function open() {
  const { system, tokens, origin, bearer } = await gateways.open();
  const folder = mkdtempSync(join(tmpdir(), "ujb-rest-"));
  const audit = createAudit(folder, SILENT, { keptDays: 9 });
  const gateway = createGateway({ store: system.store, log: SILENT, principals: tokens, audit });
  const http = await createHttpGateway(
    { gateway, log: SILENT, version: "0", auth: tokens },
    { host: "127.0.0.1", port: 0 },
  );
  gateways.closers.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => audit.close(),
    () => gateway.close(),
    http.close,
  );
  const as = async (name: string, grants = {}) =>
    restClient(new URL(http.url).origin, await bearer(name, grants));
  return { system, origin, as, audit, folder };
}

const SECRET = "nobody-else-may-read-this";

describe("another principal's operation", () => {
  test("is not found, in no way, by one without the role", async () => {
    const { as } = await open();
    const [ann, ben] = [await as("ann"), await as("ben")];
    const { body } = await ann.call("work", { Name: "a", Data: SECRET });
    const place = `/operations/${body.log_id}`;
    for (const end of ["", "/history", "/log", "/result", "/result?page=1", "/events"])
      expect(await ben.get(`${place}${end}`)).toMatchObject({
        status: 404,
        body: { error_code: "NOT_FOUND" },
      });
    expect((await ben.post(`${place}/cancel`)).status).toBe(404);
    expect((await ben.get("/operations")).body.operations).toEqual([]);
    for (const whose of ["*", "local"])
      expect((await ben.get(`/operations?principal=${whose}`)).body).toMatchObject({
        error_code: "FORBIDDEN",
      });
  });

  test("is shown to an operator without what was passed or came back, and can be ended by it", async () => {
    const { as, system, audit } = await open();
    const [ann, op] = [await as("ann"), await as("op", { role: "operate" })];
    const args = { Name: "a", Data: SECRET, Hold: true };
    const { body } = await ann.post("/operations", { tool: "work-cancellable", arguments: args, timeout: 0 });
    await eventually(async () => (await system.record(body.log_id)).state === "running", "it runs");
    const place = `/operations/${body.log_id}`;
    const [row] = (await op.get("/operations?principal=*")).body.operations;
    expect(row).toMatchObject({ log_id: body.log_id, tool: "work-cancellable", state: "running" });
    const shown = [row, (await op.get(place)).body, (await op.get(`${place}/history`)).body];
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    for (const end of ["/log", "/result", "/result?page=1"])
      expect((await op.get(`${place}${end}`)).status).toBe(404);
    expect(await op.post(`${place}/cancel`)).toMatchObject({ status: 200, body: { log_id: body.log_id } });
    expect((await ann.get(`${place}?wait=30`)).body).toMatchObject({ status: "cancelled" });
    const entries = (await audit.read())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(entries.at(-1)).toMatchObject({
      verb: "cancel",
      name: "op",
      log_id: body.log_id,
      answer: "accepted",
    });
    expect(row.principal_name).toBe("ann");
    const history = (await op.get(`${place}/history`)).body;
    expect(history).toMatchObject({ principal: row.principal, principal_name: "ann" });
    expect(row.principal).toBe((entries.at(-1) as { of: string }).of);
  });

  test("of an Editor that an operator may not use stays unknown to it", async () => {
    const { as } = await open();
    const [ann, op] = [await as("ann"), await as("op", { role: "operate", editors: { allow: ["other*"] } })];
    const { body } = await ann.call("work", { Name: "a" });
    expect((await op.get("/operations?principal=*")).body.operations).toEqual([]);
    expect((await op.get(`/operations/${body.log_id}`)).status).toBe(404);
    expect((await op.get(`/operations/${body.log_id}/history`)).status).toBe(404);
    expect((await op.post(`/operations/${body.log_id}/cancel`)).status).toBe(404);
  });
});

test("who lists operations changes nothing, be they its own or another's", async () => {
  const { as, system } = await open();
  const [ann, op] = [await as("ann"), await as("op", { role: "operate" })];
  await ann.post("/operations", { tool: "work", arguments: { Name: "first", Hold: true }, timeout: 0 });
  await system.bench.begins("first");
  const gone = new AbortController();
  const call = { tool: "work", arguments: { Name: "a" }, timeout: 30 };
  const lost = ann.post("/operations", call, { signal: gone.signal }).catch(() => "lost");
  const listed = async (client: typeof ann, whose = "") =>
    (await client.get(`/operations?tool=work&state=queued${whose}`)).body.operations as { log_id: string }[];
  await eventually(async () => (await listed(op, "&principal=*")).length === 1, "it waits");
  const [{ log_id: id } = { log_id: "" }] = await listed(op, "&principal=*");
  expect(await listed(ann)).toMatchObject([{ log_id: id }]);
  expect((await system.record(id)).isKnown).toBeUndefined();
  gone.abort();
  expect(await lost).toBe("lost");
  system.bench.finish("first");
  await eventually(async () => (await system.record(id)).state === "completed", "it ran");
});

test("pauses, drains and resumes are operators', and noted with their names", async () => {
  const { as, system } = await open();
  const [ann, op] = [await as("ann"), await as("op", { role: "operate" })];
  const place = `/editors/${system.editor.editorId}`;
  const { body } = await ann.post("/operations", {
    tool: "work",
    arguments: { Name: "a", Hold: true },
    timeout: 0,
  });
  await eventually(async () => (await system.record(body.log_id)).state === "running", "it runs");
  expect((await ann.post(`${place}/pause`)).status).toBe(403);
  expect((await op.post(`${place}/drain`)).body).toMatchObject({
    paused: true,
    running: [{ log_id: body.log_id, tool: "work", state: "running" }],
  });
  const waits = await ann.post("/operations", { tool: "work", arguments: { Name: "b" }, timeout: 0 });
  system.bench.finish("a");
  await ann.get(`/operations/${body.log_id}?wait=30`);
  expect((await op.post(`${place}/drain`)).body.running).toEqual([]);
  expect((await op.get(place)).body.paused).toBe(true);
  expect((await op.post(`${place}/resume`)).body).toMatchObject({ paused: false });
  expect((await ann.get(`/operations/${waits.body.log_id}?wait=30`)).body.status).toBe("completed");
  expect((await op.ask("DELETE", place)).body).toMatchObject({ error_code: "EDITOR_CONNECTED" });
  const { body: said } = await (await as("root", { role: "admin" })).get("/audit");
  const noted = said.entries.filter(({ verb }: { verb: string }) => verb !== "call");
  expect(noted.map(({ verb, name, answer }: Record<string, string>) => [verb, name, answer])).toEqual([
    ["pause", "ann", "refused"],
    ["pause", "op", "accepted"],
    ["pause", "op", "accepted"],
    ["resume", "op", "accepted"],
    ["forget", "op", "refused"],
  ]);
});

describe("what a page of another origin could send", () => {
  test("no route with an effect works by GET, and none without JSON", async () => {
    const { as, system } = await open();
    const ann = await as("ann", { role: "admin" });
    const call = { tool: "work", arguments: { Name: "a" } };
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      undefined,
    ]) {
      const headers = { "content-type": type };
      const sent = await ann.post("/operations", JSON.stringify(call), { headers });
      expect(sent.status).toBe(415);
      expect(
        (await ann.post(`/editors/${system.editor.editorId}/pause`, undefined, { headers })).status,
      ).toBe(415);
    }
    for (const act of ["pause", "resume", "drain"])
      expect((await ann.get(`/editors/${system.editor.editorId}/${act}`)).status).toBe(404);
    for (const path of ["/react/execute", "/react/execute/async"])
      expect((await ann.get(path)).status).toBe(404);
    expect(system.executions("a")).toBe(0);
    expect((await ann.get(`/editors/${system.editor.editorId}`)).body).not.toHaveProperty("paused");
  });

  test("bodies beyond 4 MiB, unknown routes, and what is not JSON have problems of their own", async () => {
    const { as } = await open();
    const ann = await as("ann");
    const large = await ann.post("/operations", `{"tool":"${"x".repeat(4 * 1024 * 1024)}"}`);
    expect(large).toMatchObject({ status: 413, body: { error_code: "ARGUMENTS_TOO_LARGE" } });
    expect(await ann.get("/nowhere")).toMatchObject({ status: 404, body: { type: "about:blank" } });
    expect(await ann.post("/operations", "{")).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_ARGUMENTS", detail: expect.stringContaining("not JSON") },
    });
  });
});

test("the page of the document has all its files from here, and allows none from elsewhere", async () => {
  const { as } = await open();
  const ann = await as("ann");
  const page = await ann.get("/docs/");
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file as string);
  expect(files.length).toBeGreaterThan(4);
  for (const file of files) {
    expect(file).toMatch(/^\.\/static\//);
    expect((await ann.get(`/docs/${file.slice(2)}`)).status).toBe(200);
  }
});

test("half a line of the audit log, of a process that was killed, hides no other", async () => {
  const { as, folder } = await open();
  const line = { at: "2026-01-01T00:00:00Z", principal: "a", name: "ann", verb: "call", answer: "created" };
  writeFileSync(join(folder, "audit-2026-01-01.jsonl"), `${JSON.stringify(line)}\n{"at":"2026-01`);
  const said = await (await as("root", { role: "admin" })).get("/audit?day=2026-01-01");
  expect(said).toMatchObject({ status: 200, body: { entries: [line] } });
});
