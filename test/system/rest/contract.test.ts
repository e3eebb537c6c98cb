/**
 * The OpenAPI document against a running gateway: each answer and each error that it names, of every route, is produced
 * once, and every answer fits it. The tests of this file build on one another: the last one says what was never seen.
 */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createTokens } from "../../../src/gateway/auth/tokens.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { type Contract, createContract } from "../../harness/rest/contract.js";
import { observedClient } from "../../harness/rest/observed.js";
import { type RestClient, restClient } from "../../harness/rest/rest-client.js";
import { SILENT } from "../../harness/silent.js";
import { useSystem } from "../../harness/system/system.js";
import { type TokenGateway, useTokenGateway } from "../../harness/system/token-gateway.js";
import { REFUSALS } from "./refused-calls.js";

const { start, redis } = useSystem();
const gateways = useTokenGateway(start);
const SUBMITS = ["/operations", "/react/execute", "/react/execute/async"];
const READS = ["/operations", "/tasks"];
const WORK = { tool: "work", arguments: { Name: "a" } };
const UNKNOWN = randomUUID();

let contract: Contract;

async function open(...options: Parameters<typeof gateways.open>) {
  const gateway = await gateways.open(...options);
  const as = async (name: string, grants: Parameters<TokenGateway["bearer"]>[1] = {}) =>
    observedClient(contract, gateway.origin, await gateway.bearer(name, grants));
  return { ...gateway, as, ann: await as("ann", { role: "admin" }) };
}

/** A further HTTP surface. */
async function serve(gateway: Gateway, auth: ReturnType<typeof createTokens>): Promise<string> {
  const http = await createHttpGateway(
    { gateway, log: SILENT, version: "0", auth },
    { host: "127.0.0.1", port: 0 },
  );
  gateways.closers.push(http.close);
  return new URL(http.url).origin;
}

const filled = (path: string): string =>
  path.replace("/api/v1", "").replace("{id}", UNKNOWN).replace("{name}", "work");

/** Every route is asked once, or these. */
async function everywhere(client: RestClient, query = "", routes = contract.routes): Promise<void> {
  for (const { method, path } of routes)
    await client.ask(method, `${filled(path)}${query}`, method === "POST" ? { body: WORK } : {});
}

describe("the document", () => {
  test("is one of OpenAPI 3.1", async () => {
    const { origin, bearer } = await gateways.open();
    const { body } = await restClient(origin, await bearer("ann")).get("/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    contract = createContract(body);
    expect(contract.routes.length).toBeGreaterThan(20);
  });

  test("requests without a token, from another page, and with what no route knows", async () => {
    const { origin, ann } = await open();
    await everywhere(observedClient(contract, origin));
    await everywhere(observedClient(contract, origin, { origin: "https://another.example" }));
    await everywhere(ann, "?nonsense=1");
  });

  test("too many requests, unreadable tokens, a store that is away", async () => {
    const { system, tokens, bearer, ann } = await open({ callsPerSecond: 0 });
    await everywhere(ann);
    const file = gateways.tokensFile();
    writeFileSync(file, "no tokens", { mode: 0o600 });
    await everywhere(
      observedClient(contract, await serve(system.gateway, createTokens(file)), {
        authorization: "Bearer x",
      }),
    );
    const { gateway, toRedis } = await system.addCabledGateway();
    const cut = observedClient(
      contract,
      await serve(gateway, tokens),
      await bearer("ben", { role: "admin" }),
    );
    await cut.get("/me");
    toRedis.cut();
    // A stream of events waits for the store.
    const others = contract.routes.filter(({ path }) => path !== "/api/v1/events");
    await everywhere(cut, "", others);
    toRedis.fix();
  });
});

describe("operations", () => {
  for (const path of SUBMITS) {
    test(`POST ${path}: an end, and one that goes on`, async () => {
      const { system, ann } = await open();
      const held = ann.post(path, { ...WORK, arguments: { Name: "a", Hold: true }, timeout: 0 });
      expect(await held).toMatchObject({ status: 202 });
      await system.bench.begins("a");
      system.bench.finish("a");
      const id = (await held).body.log_id;
      expect((await ann.get(`/operations/${id}?wait=30`)).body.status).toBe("completed");
      expect(await ann.post(path, { ...WORK, arguments: { Name: "a", Hold: true } })).toMatchObject({
        status: 200,
        body: { deduplicated: true },
      });
    });

    test.each(REFUSALS)(`POST ${path}: $code`, async ({ code, system: options, provoke }) => {
      const { system, as, ann } = await open({}, options);
      const stage = { system, as, ann, flush: () => redis().flush() };
      const refused = await provoke(stage, (client, body, asked) => client.post(path, body, asked));
      expect(refused.body).toMatchObject({ error_code: code });
    });
  }

  test("reading: now, by ETag, and what is not there", async () => {
    const { ann, as } = await open({}, { gateway: { documents: { timeoutMs: 5_000 } } });
    const { body } = await ann.call("work", { Name: "a" });
    for (const place of [
      ...READS.map((path) => `${path}/${body.log_id}`),
      `/operations/${body.log_id}/result`,
    ]) {
      const said = await ann.get(place);
      const etag = said.headers.get("etag") ?? "";
      expect(await ann.get(place, { headers: { "if-none-match": etag } })).toMatchObject({ status: 304 });
    }
    for (const part of ["history", "log", "result?jq=.Done", "result?fields=Done"])
      expect(await ann.get(`/operations/${body.log_id}/${part}`)).toMatchObject({ status: 200 });
    const endless = await ann.get(
      `/operations/${body.log_id}/result?jq=${encodeURIComponent("def f: f; f")}`,
    );
    expect(endless).toMatchObject({ status: 422, body: { error_code: "FETCH_FAILED" } });
    for (const place of ["", "/history", "/log", "/result"]) await ann.get(`/operations/${UNKNOWN}${place}`);
    await ann.get(`/tasks/${UNKNOWN}`);
    await ann.post(`/operations/${UNKNOWN}/cancel`);
    expect((await ann.post(`/operations/${body.log_id}/cancel`)).status).toBe(200);
    expect((await ann.get("/operations")).body.operations).toHaveLength(1);
    const ben = await as("ben");
    for (const path of ["/operations", "/events"])
      expect((await ben.get(`${path}?principal=*`)).status).toBe(403);
  });

  test("events, of everything and of one, and when there are no more", async () => {
    const { ann } = await open();
    expect((await ann.get("/events")).body).toMatch(/^retry: /);
    const { body } = await ann.call("work", { Name: "a" });
    const events = `/operations/${body.log_id}/events`;
    expect((await ann.get(events)).body).toMatch(/^retry: /);
    expect((await ann.get(events, { headers: { "last-event-id": "0-0.ended" } })).status).toBe(204);
    await ann.get(`/operations/${UNKNOWN}/events`);
  });
});

describe("Editors and tools", () => {
  test("what there is", async () => {
    const { ann, system } = await open({}, { editor: { labels: ["android"] } });
    for (const path of [
      "/me",
      "/editors",
      `/editors/${system.editor.editorId}`,
      "/tools",
      "/tools/work",
      "/workers",
      "/clients",
    ])
      expect(await ann.get(path)).toMatchObject({ status: 200 });
    expect((await ann.get("/pools")).body.pools).toMatchObject([{ pool: "pool:android", waiting: 0 }]);
    expect((await ann.get("/tools/wrok")).body).toMatchObject({ error_code: "UNKNOWN_TOOL" });
  });

  test("what operators do to Editors, and why they cannot", async () => {
    const { ann, as, system } = await open();
    const routes = [
      { method: "GET", end: "" },
      { method: "DELETE", end: "" },
      ...["pause", "resume", "drain"].map((act) => ({ method: "POST", end: `/${act}` })),
    ];
    const [ben, blind] = [
      await as("ben"),
      await as("blind", { role: "operate", editors: { allow: ["none*"] } }),
    ];
    const twin = await system.addEditor({ projectPath: "/elsewhere/game-1" });
    await system.present(twin);
    for (const { method, end } of routes) {
      const ask = (client: RestClient, id: string) => client.ask(method, `/editors/${id}${end}`);
      await ask(ben, system.editor.editorId);
      expect((await ask(blind, "game-1")).body).toMatchObject({ error_code: "NO_EDITOR" });
      expect((await ask(ann, "nowhere")).body).toMatchObject({ error_code: "EDITOR_UNKNOWN" });
      expect((await ask(ann, "game-1")).body).toMatchObject({ error_code: "EDITOR_AMBIGUOUS" });
      await ask(ann, twin.editorId);
    }
    await twin.faults.crash();
    await system.away(twin);
    const forgotten = await ann.ask("DELETE", `/editors/${twin.editorId}?force=true`);
    expect(forgotten).toMatchObject({ status: 200, body: { editor: { id: twin.editorId }, ended: [] } });
  });

  test("the audit log is for admins", async () => {
    const { ann, as } = await open();
    expect((await ann.get("/audit?day=2027-01-31")).body).toEqual({ entries: [] });
    expect((await (await as("ben", { role: "operate" })).get("/audit")).status).toBe(403);
  });
});

test("nothing that the document says was never seen", () => {
  expect(contract.unseen()).toEqual([]);
});
