/** OpenTelemetry's variables decide whether a process records traces; without them nothing of the SDK is loaded. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCommandLine } from "../../harness/processes/command-line.js";

const { start, type, here, closeLater } = useCommandLine();

interface SentSpans {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: { name: string; traceId: string; spanId: string; parentSpanId?: string }[] }[];
  }[];
}

/** What takes spans, as a collector does. */
async function startCollector() {
  const sent: SentSpans[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    sent.push(JSON.parse(Buffer.concat(parts).toString("utf8")) as SentSpans);
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeLater(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { sent, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Names the modules of OpenTelemetry's SDK that a process has loaded when it ends. */
function watchModules(): string {
  const file = join(here().folder, "watch-modules.cjs");
  writeFileSync(
    file,
    `process.on("exit", () => {
  const loaded = Object.keys(require("node:module")._cache).filter((name) => name.includes("@opentelemetry"));
  const packages = loaded.map((name) => name.replaceAll("\\\\", "/").split("/@opentelemetry/").pop().split("/")[0]);
  require("node:fs").writeSync(1, "loaded: [" + [...new Set(packages)].sort().join(" ") + "]\\n");
});
`,
  );
  return file;
}

async function callOnce(more: Record<string, string>): Promise<string> {
  const up = start("up", ["up", "--simulate", "--port", "0"], {
    ...more,
    NODE_OPTIONS: `--require ${watchModules()}`,
  });
  await up.line(/^MCP endpoint: /);
  const called = await type(["call", "get-hierarchy"]);
  expect(called.code, called.stderr).toBe(0);
  await up.kill("SIGTERM");
  return up.stdout;
}

test("with a collector's address, a process sends its spans there", async () => {
  const { sent, endpoint } = await startCollector();
  const output = await callOnce({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_RESOURCE_ATTRIBUTES: "team=blue",
  });
  expect(output).toContain(" sdk-trace");
  const resources = sent.flatMap(({ resourceSpans }) => resourceSpans);
  const attributes = resources.flatMap(({ resource }) => resource.attributes);
  expect(attributes).toContainEqual({ key: "service.name", value: { stringValue: "unity-job-broker" } });
  expect(attributes).toContainEqual({ key: "team", value: { stringValue: "blue" } });
  const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans));
  const call = spans.find(({ name }) => name === "tools/call get-hierarchy");
  const ofCall = spans.filter(({ traceId }) => traceId === call?.traceId).map(({ name }) => name);
  expect(ofCall).toEqual(
    expect.arrayContaining(["submit", "wait", "queue", "execute", "send", "run in Unity", "settle"]),
  );
});

test("without the variables nothing of the SDK is loaded", async () => {
  const output = await callOnce({});
  expect(output).toMatch(/^loaded: \[(api)?\]$/m);
});

test("switched off, the address is ignored", async () => {
  const { sent, endpoint } = await startCollector();
  const output = await callOnce({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: "true" });
  expect(output).toMatch(/^loaded: \[(api)?\]$/m);
  expect(sent).toEqual([]);
});
