/** Which tools may run in an Editor, switched while MCP clients are connected: over the C# bridge (EditorHost). */
import { expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

async function inWorld(use: (world: World) => Promise<void>): Promise<void> {
  const world = await startWorld({ engine: "dotnet" });
  try {
    await use(world);
  } finally {
    await world.close();
  }
}

test.skipIf(!hasDotnet)(
  "one tool, and the tools of a package, are allowed and denied alone; a refusal names the way",
  async () => {
    await inWorld(async (world) => {
      const client = await world.http();
      const toSwitch = (name: string, on: boolean) => world.editor.do({ do: "switch", name, on });
      const blocked = async (tool: string, sentence: string) => {
        const answer = await client.call(tool, { timeout: 20 });
        expect(answer, tool).toMatchObject({ status: "error", error: expect.stringContaining(sentence) });
      };

      await toSwitch("run-tests", false);
      await blocked(
        "run-tests",
        "run-tests is blocked: it is denied by its name; switch run-tests on in Unity",
      );
      await toSwitch("tests", false);
      await toSwitch("run-tests", true);
      expect(await client.call("run-tests", { timeout: 40 })).toMatchObject({ status: "completed" });

      await world.editor.do({ do: "addTool", name: "from-a-package", package: "com.foreign" });
      await until("the tool is listed", async () => {
        const { tools } = (await client.request("tools/list")) as { tools: { name: string }[] };
        return tools.some(({ name }) => name === "from-a-package");
      });
      await blocked(
        "from-a-package",
        "it comes with the package com.foreign, whose tools are off until you allow them",
      );
      await toSwitch("assembly:JobBroker.EditorHost.Domain", true);
      expect(await client.call("from-a-package", { timeout: 20 })).toMatchObject({ status: "completed" });
      await toSwitch("from-a-package", false);
      await blocked("from-a-package", "denied by its name");
      await client.close();
    });
  },
  180_000,
);

test.skipIf(!hasDotnet)(
  "a tool for development is listed and runs while development mode is on",
  async () => {
    await inWorld(async (world) => {
      const client = await world.http();
      const described = async () => {
        const { tools } = (await client.request("tools/list")) as {
          tools: { name: string; description: string }[];
        };
        return tools.find(({ name }) => name === "inspect-bridge")?.description;
      };
      await world.editor.do({ do: "addTool", name: "inspect-bridge", development: true });
      await world.editor.do({ do: "addTool", name: "beside-it" });
      await until("the tools are known", async () => {
        const { tools } = (await client.request("tools/list")) as { tools: { name: string }[] };
        return tools.some(({ name }) => name === "beside-it");
      });
      expect(await described()).toBeUndefined();

      await world.editor.do({ do: "switch", name: "development", on: true });
      await until("it is listed", async () => (await described()) !== undefined);
      expect(await described()).toContain("(For development only.)");
      expect(await client.call("inspect-bridge", { timeout: 20 })).toMatchObject({ status: "completed" });

      await world.editor.do({ do: "switch", name: "development", on: false });
      await until("it is gone", async () => (await described()) === undefined);
      await client.close();
    });
  },
  180_000,
);
