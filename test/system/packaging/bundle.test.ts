/** The .mcpb bundle as a user's program has it: unpacked somewhere, and started by what its manifest says. */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getMcpConfigForManifest, type McpbManifestAny, unpackExtension } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Ajv } from "ajv";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildBundle } from "../../../packaging/mcpb/bundle.js";
import { useCommandLine } from "../../harness/processes/command-line.js";

/** Bytes. It had 13.1 MB before the page of the REST API and the exporter of traces, 15.1 at the end of November 2026. */
const LARGEST = 16_500_000;

const { here, closeLater } = useCommandLine();
let scratch: string;
let bundle: string;
let folder: string;
let manifest: McpbManifestAny;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "ujb-mcpb-"));
  bundle = join(scratch, "unity-job-broker.mcpb");
  folder = join(scratch, "unpacked");
  await buildBundle(bundle);
  expect(await unpackExtension({ mcpbPath: bundle, outputDir: folder, silent: true })).toBe(true);
  manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as McpbManifestAny;
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test("has a manifest of the published schema", () => {
  const schema = createRequire(import.meta.url)("@anthropic-ai/mcpb/mcpb-manifest-v0.3.schema.json");
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  isValid(manifest);
  expect(isValid.errors).toBeNull();
  isValid({ ...manifest, displayname: "x" });
  expect(isValid.errors).not.toBeNull();
});

test("is for every system: nothing in it was built for one, or is of development", () => {
  expect(statSync(bundle).size).toBeLessThan(LARGEST);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => /\.(node|map|tsx?)$/.test(file))).toEqual([]);
  for (const tool of ["vitest", "typescript", "@biomejs"])
    expect(existsSync(join(folder, "node_modules", tool)), tool).toBe(false);
});

test("starts by what its manifest says, and serves the tools that it lists", async () => {
  const config = await getMcpConfigForManifest({
    manifest,
    extensionPath: folder,
    systemDirs: {},
    userConfig: {},
    pathSeparator: "/",
  });
  if (config === undefined) throw new Error("the manifest starts nothing");
  expect(JSON.stringify(config)).not.toContain("${");
  const { args = [], env } = config;
  expect(args[0]).toBe(join(folder, manifest.server.entry_point ?? ""));
  // An empty setting counts as none.
  expect(env).toEqual({ REDIS_URL: "" });
  const transport = new StdioClientTransport({
    command: config.command,
    args,
    env: { ...(here().env as Record<string, string>), ...env },
    cwd: scratch,
    stderr: "ignore",
  });
  const client = new Client({ name: "claude-ai", version: "1" });
  closeLater(() => client.close());
  await client.connect(transport);
  here().processes.guard(transport.pid ?? 0);
  expect(client.getServerVersion()).toMatchObject({ name: manifest.name, version: manifest.version });
  const listed = (await client.listTools()).tools.map(({ name, description }) => ({ name, description }));
  expect(listed).toEqual(expect.arrayContaining(manifest.tools ?? []));
  expect(manifest.tools?.length).toBeGreaterThan(5);
  const { content } = await client.callTool({ name: "list_editors", arguments: {} });
  expect(JSON.stringify(content)).toContain("0 Editor(s) known");
});
