/** Whatever a client sends, it is answered as the document says, and never by a defect of the broker. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { type Contract, createContract, type OpenApi } from "../../harness/rest/contract.js";
import { observedClient } from "../../harness/rest/observed.js";
import { type RestClient, restClient } from "../../harness/rest/rest-client.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const RUNS = { numRuns: 60, ...(process.env.FUZZ_SEED ? { seed: Number(process.env.FUZZ_SEED) } : {}) };

async function open() {
  const system = await start();
  const { url, log } = await serve(system.gateway);
  const { origin } = new URL(url);
  const { body } = await restClient(origin).get("/openapi.json");
  const contract = createContract(body as OpenApi);
  return { system, log, contract, rest: observedClient(contract, origin), document: body as OpenApi };
}

const token = fc.stringMatching(/^[\x21-\x7e]{0,40}$/);
const key = fc.oneof(token, fc.stringMatching(/^"[\x20-\x7e]{0,40}"$/));
const call = fc.record(
  {
    tool: fc.oneof(fc.constantFrom("look", "put", "get_operation_result", "ping"), fc.string()),
    arguments: fc.oneof(
      fc.record({ Name: fc.string(), Data: fc.jsonValue() }, { requiredKeys: [] }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constant(JSON.parse('{"__proto__":{"Name":"a"},"constructor":1}') as object),
    ),
    editor: fc.oneof(fc.constantFrom("game-1", "pool:android", "pool:"), fc.string()),
    timeout: fc.double({ min: 0, max: 0.2, noNaN: true }),
    idempotency_key: fc.string(),
    force_new: fc.oneof(fc.uuid(), fc.string()),
    if_away: fc.constantFrom("wait", "refuse"),
  },
  { requiredKeys: ["tool"] },
);

/** Every route but the streams, which nobody reads here to their end. */
const asked = ({ routes }: Contract) =>
  routes.filter(({ path }) => !path.endsWith("/events") && !path.endsWith("/ws"));

async function sound(
  rest: RestClient,
  ...[method, path, with_]: Parameters<RestClient["ask"]>
): Promise<void> {
  const { status, body } = await rest.ask(method, path, with_);
  expect(status, JSON.stringify(body)?.slice(0, 300)).not.toBe(500);
}

test("calls that fit the schema, and nearly", async () => {
  const { rest, log } = await open();
  await fc.assert(
    fc.asyncProperty(
      call,
      fc.option(key),
      fc.option(token),
      fc.option(token),
      async (body, idem, prefer, id) => {
        const headers = {
          "idempotency-key": idem ?? undefined,
          prefer: prefer ?? undefined,
          "x-client-id": id ?? undefined,
        };
        await sound(rest, "POST", "/operations", { body: { timeout: 0, ...body }, headers });
      },
    ),
    RUNS,
  );
  expect(log.lines.filter(({ message }) => message.includes("failed"))).toEqual([]);
});

const half = "\ud83d";
test.each([
  ["a tool", { tool: half }],
  ["an argument", { tool: "work", arguments: { Name: half } }],
  ["a key", { tool: "work", arguments: { Name: "a" }, idempotency_key: half }],
  ["an Editor", { tool: "work", arguments: { Name: "a" }, editor: half }],
])("half a character in %s is refused before anything runs", async (_what, body) => {
  const { rest, log } = await open();
  const { status } = await rest.post("/operations", body);
  expect([400, 404]).toContain(status);
  expect(log.lines.filter(({ message }) => message.includes("failed"))).toEqual([]);
});

test("bodies of any kind", async () => {
  const { rest, contract } = await open();
  const posts = asked(contract).filter(({ method }) => method === "POST");
  const raw = fc.oneof(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.string(),
    fc.json(),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posts), raw, fc.string(), async ({ path }, body, id) => {
      const at = path.replace("/api/v1", "").replace("{id}", encodeURIComponent(id) || "x");
      await sound(rest, "POST", at, { body });
    }),
    RUNS,
  );
});

test("queries and paths of any kind, also of every parameter that the document names", async () => {
  const { rest, contract, document } = await open();
  const { body } = await rest.call("look", { Name: "a" });
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom("-1", "0", "1", "1e999", "NaN", "true", "*", "2027-01-31", "2027-01-31T12:00:00Z"),
    fc.integer().map(String),
  );
  const gets = asked(contract)
    .filter(({ method }) => method === "GET")
    .map(({ path }) => ({
      path,
      names: (document.paths[path]?.get?.parameters ?? [])
        .filter((parameter) => parameter.in === "query" && !["wait", "timeout"].includes(parameter.name))
        .map(({ name }) => name),
    }));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...gets),
      fc.array(fc.tuple(fc.nat(), value), { maxLength: 3 }),
      fc.oneof(fc.constant(String(body.log_id)), fc.uuid(), fc.string({ minLength: 1 })),
      async ({ path, names }, given, id) => {
        const said = given.map(([at, text]): [string, string] => [names[at % names.length] ?? "x", text]);
        const query = new URLSearchParams(said).toString();
        const safe = encodeURIComponent(id.replaceAll(".", "_"));
        const at = path.replace("/api/v1", "").replace("{id}", safe).replace("{name}", safe);
        await sound(rest, "GET", `${at}?${query}`);
      },
    ),
    { ...RUNS, numRuns: 150 },
  );
});
