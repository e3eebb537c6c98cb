/** A program that takes the Editor's port during a domain reload and keeps it: the broker finds the Editor on another. */
import { createServer, type Server } from "node:net";
import { expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { startWorld } from "../../harness/processes/process-world.js";

/** Listens as soon as the port is free. */
async function takeOver(port: number): Promise<Server> {
  for (;;) {
    const server = createServer((socket) => socket.on("error", () => undefined).resume());
    const taken = await new Promise<boolean>((settle) => {
      server.once("listening", () => settle(true)).once("error", () => settle(false));
      server.listen(port, "127.0.0.1");
    });
    if (taken) return server;
    await new Promise((next) => setTimeout(next, 2));
  }
}

test.skipIf(!hasDotnet)(
  "a port that a stranger took during a reload costs no call",
  async () => {
    const world = await startWorld({ engine: "dotnet" });
    let stranger: Server | undefined;
    try {
      const client = await world.http();
      expect(await client.call("ping", { timeout: 20 })).toMatchObject({ status: "completed" });
      const { port } = (await world.editor.do({ do: "status" })) as { port: number };
      const reloaded = world.editor.do({ do: "reload", downMs: 2000 });
      stranger = await takeOver(port);
      await reloaded;
      const answer = await client.call("execute-menu-item", { MenuItemPath: "Assets/Refresh", timeout: 45 });
      expect(answer).toMatchObject({ status: "completed" });
      expect(((await world.editor.do({ do: "status" })) as { port: number }).port).not.toBe(port);
      expect(await world.editor.executions("Assets/Refresh")).toHaveLength(1);
      await client.close();
    } finally {
      stranger?.close();
      await world.close();
    }
  },
  90_000,
);
