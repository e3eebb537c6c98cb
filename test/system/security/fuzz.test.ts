/**
 * Whatever crosses an edge may be anything. A fixed seed and few inputs here; `FUZZ_SECONDS=300 npm test -- test/system/security/fuzz.test.ts`
 * goes on for so long at each edge, with new inputs (`FUZZ_SEED` repeats them: a failure prints it).
 */

import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { createDocuments } from "../../../src/documents/documents.js";
import { readArguments } from "../../../src/gateway/catalog.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { readConfig } from "../../../src/shared/config.js";
import { portableSchema } from "../../../src/shared/tools/portable-schema.js";
import { completeTool } from "../../../src/shared/tools/tool.js";
import { createFrameParser, encodeFrame } from "../../../src/shared/wire/rpc.js";
import { TELLING_ENGINES } from "../../harness/editor/dotnet.js";
import { startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { isLongForm } from "../../harness/long-form.js";
import { createHeardLog, INITIALIZE, post, toolCall } from "../../harness/mcp/mcp.js";
import { useSystem } from "../../harness/system/system.js";

const SECONDS = Number(process.env.FUZZ_SECONDS ?? (isLongForm ? 120 : 0));
const SEED = process.env.FUZZ_SEED ?? (SECONDS > 0 ? undefined : "20261123");
const TIMEOUT_MS = SECONDS * 1_000 + 120_000;

const NOBODYS = "00000000-0000-4000-8000-000000000000";
const { start } = useSystem();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** So many inputs, or as many as fit into the time. */
async function fuzz<T>(
  runs: number,
  input: fc.Arbitrary<T>,
  attempt: (input: T) => Promise<unknown>,
): Promise<void> {
  let tried = 0;
  const property = fc.asyncProperty(input, async (given) => {
    tried += 1;
    await attempt(given);
  });
  await fc.assert(property, {
    ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    ...(SECONDS > 0
      ? { numRuns: 100_000_000, interruptAfterTimeLimit: SECONDS * 1_000, markInterruptAsFailure: false }
      : { numRuns: runs }),
  });
  if (SECONDS > 0) console.log(`${expect.getState().currentTestName}: ${tried} inputs in ${SECONDS} s`);
}

const JSON_VALUE = fc.jsonValue({ maxDepth: 4 });
const METHODS = [
  ...[
    "bridge/hello",
    "bridge/prove",
    "operation/submit",
    "operation/get",
    "operation/list",
    "operation/result",
  ],
  ...[
    "operation/cancel",
    "operation/revoke",
    "operation/acknowledge",
    "get-tool-details",
    "ping",
    "run-tests",
  ],
];
const RPC = fc.record(
  {
    jsonrpc: fc.constantFrom("2.0", "1.0", 2),
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), JSON_VALUE),
    method: fc.oneof(fc.constantFrom(...METHODS), fc.string()),
    params: JSON_VALUE,
  },
  { requiredKeys: [] },
);
/** Frames, what is nearly one, and bytes. */
const WIRE = fc.array(
  fc.oneof(
    RPC.map((message) => encodeFrame(JSON.stringify(message))),
    fc.json().map((text) => encodeFrame(text)),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .tuple(fc.integer({ min: -5, max: 2_000_000_000 }), fc.string())
      .map(([length, text]) => Buffer.from(`Content-Length: ${length}\r\n\r\n${text}`)),
  ),
  { maxLength: 6 },
);

test("framing: the parser names what is wrong, and keeps nothing of it", { timeout: TIMEOUT_MS }, () =>
  fuzz(2_000, fc.tuple(WIRE, fc.integer({ min: 1, max: 64 })), async ([parts, size]) => {
    const parser = createFrameParser(10_000);
    const bytes = Buffer.concat(parts);
    for (let at = 0; at < bytes.length; at += size) {
      parser.push(bytes.subarray(at, at + size));
      for (let frame = parser.next(); frame !== undefined; frame = parser.next()) {
        expect(["message", "too_long", "malformed"]).toContain(frame.kind);
        if (frame.kind === "malformed") break;
      }
    }
  }),
);

describe.each(TELLING_ENGINES)("the Editor's port (%s)", (engine) => {
  const dial = async (port: number) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined).resume();
    await once(socket, "connect");
    return socket;
  };

  test("a stranger says anything: others are answered", { timeout: TIMEOUT_MS }, async () => {
    const editor = await startEditorUnderTest(engine);
    closers.push(() => editor.close());
    await fuzz(60, WIRE, async (parts) => {
      const stranger = await dial(editor.port);
      for (const part of parts) stranger.write(part);
      const other = await dial(editor.port);
      other.end(encodeFrame(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "no/such", params: {} })));
      const [answer] = await once(other, "data");
      expect(String(answer)).toContain("error");
      stranger.destroy();
      other.destroy();
    });
  });

  test("the owner says anything: nothing begins, and the next owner is served", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const editor = await startEditorUnderTest(engine);
    closers.push(() => editor.close());
    await fuzz(40, fc.array(RPC, { maxLength: 5 }), async (messages) => {
      const owner = await editor.owner();
      for (const message of messages) owner.raw(encodeFrame(JSON.stringify(message)));
      const next = await editor.owner();
      expect(await next.request("operation/get", { operationId: NOBODYS })).toMatchObject({
        state: "unknown",
      });
      owner.close();
      next.close();
    });
    expect(((await editor.do({ do: "status" })) as { executions: unknown[] }).executions).toEqual([]);
  });
});

describe("the gateway", () => {
  test("MCP bodies: never a fault of its own, and the next call is served", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const system = await start();
    const http = await createHttpGateway(
      { gateway: system.gateway, log: createHeardLog(), version: "0" },
      { host: "127.0.0.1", port: 0 },
    );
    closers.push(http.close);
    const session = (await post(http.url, INITIALIZE)).sessionId ?? "";
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom("2.0", "1.0"),
        id: fc.oneof(fc.integer(), fc.string()),
        method: fc.constantFrom(
          "tools/list",
          "tools/call",
          "resources/read",
          "resources/list",
          "ping",
          "initialize",
          "x",
        ),
        params: fc.oneof(
          JSON_VALUE,
          fc.record(
            {
              name: fc.constantFrom("look", "list_operations", "fetch_cached_response", "nothing"),
              arguments: JSON_VALUE,
            },
            { requiredKeys: [] },
          ),
          fc.record({ uri: fc.string() }),
        ),
      },
      { requiredKeys: ["jsonrpc"] },
    );
    const body = fc.oneof(
      message.map((each) => JSON.stringify(each)),
      fc.json(),
      fc.string(),
    );
    let id = 0;
    await fuzz(150, body, async (text) => {
      const answer = await post(http.url, text, { session, signal: AbortSignal.timeout(30_000) } as never);
      expect(answer.status, text).toBeLessThan(500);
      id += 1;
      const healthy = await post(http.url, toolCall(`healthy ${id}`, "list_operations"), { session });
      expect(healthy.status).toBe(200);
    });
  });

  test("HTTP: whatever comes, the next request is answered", { timeout: TIMEOUT_MS }, async () => {
    const system = await start();
    const http = await createHttpGateway(
      { gateway: system.gateway, log: createHeardLog(), version: "0" },
      { host: "127.0.0.1", port: 0 },
    );
    closers.push(http.close);
    const { port, origin } = new URL(http.url);
    const line = fc.oneof(
      fc
        .tuple(
          fc.constantFrom("GET", "POST", "BREW", "", "PUT"),
          fc.string(),
          fc.constantFrom("HTTP/1.1", "HTTP/9", ""),
        )
        .map((parts) => parts.join(" ")),
      fc.string(),
    );
    const header = fc.oneof(
      fc.constantFrom(
        "Host: 127.0.0.1",
        "Transfer-Encoding: chunked",
        "Content-Length: 5",
        "Content-Length: -1",
        "Expect: 100-continue",
        "Upgrade: websocket",
      ),
      fc.tuple(fc.string(), fc.string()).map(([name, value]) => `${name}: ${value}`),
    );
    const request = fc.tuple(line, fc.array(header, { maxLength: 5 }), fc.uint8Array({ maxLength: 300 }));
    await fuzz(200, request, async ([first, headers, bytes]) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined).resume();
      await once(socket, "connect");
      socket.write(`${[first, ...headers].join("\r\n")}\r\n\r\n`);
      socket.write(bytes);
      const healthy = await fetch(`${origin}/healthz`);
      expect([healthy.status, await healthy.json()]).toEqual([200, { status: "ok" }]);
      socket.destroy();
    });
  });
});

test("schemas: a tool is listed or left out, and a call of it is read", {
  timeout: TIMEOUT_MS,
}, async () => {
  const keyword = fc.constantFrom(
    "type",
    "properties",
    "pattern",
    "$ref",
    "$defs",
    "items",
    "allOf",
    "not",
    "enum",
    "$async",
    "$id",
    "required",
    "format",
    "const",
    "minimum",
    "if",
    "then",
    "patternProperties",
  );
  const schema = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      JSON_VALUE,
      fc.constantFrom<unknown>("(a+)+$", "#", "#/$defs/a", "string", "object", true),
      fc.dictionary(keyword, tie("node"), { maxKeys: 4 }),
    ),
  })).node;
  await fuzz(150, fc.tuple(schema, fc.dictionary(fc.string(), JSON_VALUE)), async ([inputSchema, args]) => {
    const tool = completeTool({ name: "t", description: "", inputSchema: inputSchema as never });
    portableSchema(tool);
    readArguments(tool.inputSchema, args);
  });
});

test("jq: an answer or a refusal, and the next filter is answered", { timeout: TIMEOUT_MS }, async () => {
  const document = new TextEncoder().encode('{"items":[{"a":1},{"a":"x"},null],"b":{"c":[1,[2]]}}');
  const documents = createDocuments({ load: async () => [document.slice()] }, { timeoutMs: 500 });
  closers.push(() => documents.close());
  const part = fc.constantFrom(
    ".",
    ".items",
    ".[]",
    "..",
    "|",
    "map(",
    ")",
    "select(.a)",
    "[",
    "]",
    "{",
    "}",
    "def f: f; f",
    "$ENV",
    "env",
    "input",
    "limit(3;",
    "repeat(.)",
    "@base64",
    '"\\(.)"',
    "tojson",
    "reduce .[] as $x (0;",
    ".+1",
    ",",
    "//",
    "?",
    "error",
    "halt",
    'getpath(["a"])',
    "ltrimstr(1)",
    'splits("a")',
    'test("(a+)+$")',
    "$__loc__",
    'import "x" as x;',
    "now",
    "debug",
  );
  const program = fc.oneof(
    fc.array(part, { maxLength: 7 }).map((parts) => parts.join(" ")),
    fc.string(),
  );
  await fuzz(40, program, async (jq) => {
    await documents.filter("d", jq).catch((error: Error) => {
      if (error.name !== "DocumentError") throw error;
    });
    expect((await documents.filter("d", ".items[0].a", { timeoutMs: 30_000 })).json.toString()).toBe("1");
  });
});

test("configuration: it is read, or each variable that is wrong is named", {
  timeout: TIMEOUT_MS,
}, async () => {
  const names = Object.keys(readConfig({}));
  const value = fc.oneof(
    fc.string(),
    fc.integer().map(String),
    fc.constantFrom(
      "1e99",
      "-1",
      "NaN",
      "Infinity",
      "[]",
      "true",
      "a=quick",
      "x=1.2.3.4:99999",
      "/p",
      "http://h:0",
    ),
  );
  await fuzz(1_000, fc.dictionary(fc.constantFrom(...names), value), async (env) => {
    try {
      readConfig(env);
    } catch (error) {
      expect((error as Error).name).toBe("ZodError");
    }
  });
});
