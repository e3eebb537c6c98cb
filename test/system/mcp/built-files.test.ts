/** The files of a build as resources, through the gateway that knows whose they are. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test("build-player puts them there; to another principal they do not exist", async () => {
  const projectPath = realpathSync(mkdtempSync(join(tmpdir(), "ujb-files-")));
  folders.push(projectPath);
  const { tokens, connect, system } = await open({}, { editor: { projectPath } });
  const [ann, bob] = [await connect(await tokens.create("ann")), await connect(await tokens.create("bob"))];
  const { resourceTemplates } = await ann.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
    "unity-broker://results/{log_id}/artifacts/{+path}",
  );
  const called = await ann.callTool({
    name: "build-player",
    arguments: { BuildTarget: "WebGL", SimulatedSeconds: 0, IncludeFilesUpTo: 7, timeout: 20 },
  });
  expect(called.isError, JSON.stringify(called.content)).toBeUndefined();
  const { log_id: id, result } = called.structuredContent as { log_id: string; result: object };
  const fileOf = (path: string): string => `unity-broker://results/${id}/artifacts/${path}`;
  const uri = fileOf("Data/level0");
  expect(result).toMatchObject({
    TotalFiles: 2,
    FileContents: [{ Path: "Data/level0", Bytes: 7, Uri: uri }],
  });
  const content = { uri, mimeType: "text/plain", text: "a level" };
  expect((await ann.readResource({ uri })).contents).toEqual([content]);
  for (const [client, missing] of [
    [bob, uri],
    [ann, fileOf("Player")],
  ] as const)
    await expect(client.readResource({ uri: missing })).rejects.toMatchObject({ code: -32002 });
  expect(system.executions("build-player")).toBe(1);
});
