/** The installed broker tells the bridge in C#, and the simulator, which MCP clients are connected. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { startWorld } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

type Shown = { clients?: { name: string; version: string; transport: string }[] } | undefined;

test.each([
  ["typescript", true],
  ["dotnet", hasDotnet],
] as const)(
  "the %s Editor knows the clients of both transports",
  async (engine, isThere) => {
    if (!isThere) return;
    const world = await startWorld({ engine });
    try {
      const namesIn = async () => {
        const { clients } = (await world.editor.do({ do: "status" })) as { clients: Shown };
        const names = (clients?.clients ?? []).map((client) => Object.values(client).join(" "));
        // The harness' own, which ends its session by going away.
        return names.filter((name) => !name.startsWith("test-client")).sort();
      };
      const http = new Client({ name: "cursor\u001b[2J", version: "2" });
      const transport = new StreamableHTTPClientTransport(new URL(world.url()));
      await http.connect(transport);
      const stdio = new Client({ name: "claude-code", version: "1.0.3" });
      const server = new StdioClientTransport({ ...(await world.stdioServer()), stderr: "ignore" });
      await stdio.connect(server);
      world.processes.guard(server.pid ?? 0);
      const both = ["claude-code 1.0.3 stdio", "cursor\\u001b[2J 2 http"];
      await until("the Editor knows both", async () => String(await namesIn()) === String(both));
      await world.editor.do({ do: "reload", downMs: 50 });
      await until("it is told again", async () => String(await namesIn()) === String(both));
      await stdio.close();
      await transport.terminateSession();
      await http.close();
      await until("the Editor knows that they left", async () => (await namesIn()).length === 0);
      expect(await namesIn()).toEqual([]);
    } finally {
      await world.close();
    }
  },
  180_000,
);
