/** The C# bridge over TCP, beside what both Editors share: a blocked main thread, plain clients, a browser, bad disks. */
import { chromium } from "playwright-core";
import { afterEach, describe, expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { type EditorUnderTest, startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { findChromium } from "../../harness/programs/chromium.js";
import type { Client, Params } from "../simulator/simulator-client.js";

const open: EditorUnderTest[] = [];
afterEach(async () => {
  for (const editor of open.splice(0)) await editor.close();
});
async function start(options: { plainSurface?: boolean } = {}): Promise<EditorUnderTest> {
  const editor = await startEditorUnderTest("dotnet", options);
  open.push(editor);
  return editor;
}

const BLOCKED_MS = 35_000;
const block = (seconds: number): Params => ({ MenuItemPath: `Simulator/Block For ${seconds} Seconds` });

describe("a blocked main thread", { skip: !hasDotnet }, () => {
  test("heartbeats, ping and operation/* go on, and the stall age grows as the Editor's own clock does", async () => {
    const editor = await start();
    const owner = await editor.owner();
    await owner.submit("long", { arguments: block(BLOCKED_MS / 1000) });
    await owner.notice("operation/running");
    await owner.submit("queued", { arguments: block(0.01) });
    await owner.submit("cancelled", { arguments: block(0.02) });
    expect(await owner.request("operation/cancel", { operationId: "cancelled" })).toMatchObject({
      state: "cancelled",
    });
    const isBusy = (heartbeat: Params): boolean =>
      heartbeat.runningOperationId === "long" && heartbeat.queued === 1;
    let last = -1;
    let heard = 0;
    const begunAt = performance.now();
    while (performance.now() - begunAt < BLOCKED_MS - 3000) {
      const before = (await editor.do({ do: "status" })) as { nativeStallMs: number };
      const heartbeat = await owner.notice("bridge/heartbeat", isBusy);
      const after = (await editor.do({ do: "status" })) as { nativeStallMs: number };
      expect(await owner.request("ping", { Message: "still there?" })).toMatchObject({
        Message: expect.stringContaining("still there?"),
      });
      expect(await owner.request("operation/get", { operationId: "long" })).toMatchObject({
        state: "running",
      });
      const stall = Number(heartbeat.mainThreadStallMs);
      expect(stall).toBeGreaterThan(last);
      last = stall;
      heard += 1;
      // A heartbeat may have lain unread for a moment: only those between two measures can be compared.
      if (stall < before.nativeStallMs) continue;
      expect(stall).toBeGreaterThanOrEqual(before.nativeStallMs * 0.9);
      expect(stall).toBeLessThanOrEqual(after.nativeStallMs * 1.1 + 1);
    }
    expect(heard).toBeGreaterThanOrEqual(20);
    expect(await owner.finished("long")).toMatchObject({ status: "completed" });
    expect(await owner.finished("queued")).toMatchObject({ status: "completed" });
    expect(await editor.begun("long")).toBe(1);
    expect(await editor.begun("cancelled")).toBe(0);
  });

  test("an unfocused Editor is woken for what is submitted", async () => {
    const editor = await start();
    const owner = await editor.owner();
    await editor.do({ do: "unfocus", unfocused: true });
    const ids = Array.from({ length: 20 }, (_, index) => `op-${index}`);
    for (const id of ids) await owner.submit(id, { arguments: { MenuItemPath: "Assets/Refresh" } });
    for (const id of ids) expect(await owner.finished(id)).toMatchObject({ status: "completed" });
    // It ticks once a second by itself: twenty operations that waited for ticks would have let heartbeats pile up.
    expect(owner.unread("bridge/heartbeat").length).toBeLessThan(15);
  });
});

describe("a plain uLoop client", { skip: !hasDotnet }, () => {
  const named = async (editor: EditorUnderTest): Promise<Client> => {
    const client = await editor.client();
    await client.request("set-client-name", { ClientName: "uLoop client" });
    return client;
  };
  const executions = async (editor: EditorUnderTest): Promise<number> =>
    ((await editor.do({ do: "status" })) as { executions: unknown[] }).executions.length;

  test("lists tools, calls them, and is told what the settings forbid", async () => {
    const editor = await start({ plainSurface: true });
    const client = await named(editor);
    const { Tools, Ver } = (await client.request("get-tool-details", { IncludeDevelopmentOnly: false })) as {
      Tools: { name: string; parameterSchema: { Properties: object } }[];
      Ver: string;
    };
    expect(Ver).not.toBe("");
    expect(Tools.find(({ name }) => name === "get-logs")?.parameterSchema.Properties).toHaveProperty(
      "MaxCount",
    );
    expect(await client.request("ping", { Message: "Hello Unity MCP!" })).toMatchObject({
      Message: expect.stringContaining("Hello Unity MCP!"),
    });
    expect(await client.request("get-hierarchy", {})).toBeTypeOf("object");
    expect(await client.request("execute-menu-item", { menuItemPath: "Assets/Refresh" })).toMatchObject({
      Success: true,
    });
    await editor.do({ do: "switch", name: "tests", on: false });
    expect(await client.refusal("run-tests", {})).toMatchObject({
      code: -32603,
      data: { type: "security_blocked", command: "run-tests", reason: expect.stringContaining("run-tests") },
    });
    expect(await executions(editor)).toBe(1);
  });

  test("does not run a tool again by asking again after a lost connection", async () => {
    const editor = await start({ plainSurface: true });
    const client = await named(editor);
    const call = block(0.5);
    const lost = client.request("execute-menu-item", call);
    lost.catch(() => undefined);
    const begins = async (): Promise<void> => {
      while ((await executions(editor)) === 0) await client.request("ping", {});
    };
    await begins();
    client.close();
    await expect(lost).rejects.toThrow("ended");
    const again = await named(editor);
    expect(await again.request("execute-menu-item", call)).toMatchObject({ Success: true });
    expect(await executions(editor)).toBe(1);
    // Returned now: the same call is meant once more.
    expect(await again.request("execute-menu-item", call)).toMatchObject({ Success: true });
    expect(await executions(editor)).toBe(2);
  });

  test("is off, beside a worker and alone, also after a domain reload", async () => {
    const editor = await start();
    const call = { MenuItemPath: "Assets/Refresh" };
    expect(await (await unnamed(editor)).refusal("execute-menu-item", call)).toMatchObject({
      data: { type: "security_blocked" },
    });
    await editor.owner();
    expect(await (await unnamed(editor)).refusal("execute-menu-item", call)).toMatchObject({
      data: { type: "security_blocked" },
    });
    await editor.do({ do: "reload", downMs: 10 });
    expect(await (await unnamed(editor)).refusal("execute-menu-item", call)).toMatchObject({
      data: { type: "security_blocked" },
    });
    expect(await executions(editor)).toBe(0);
  });
  const unnamed = (editor: EditorUnderTest): Promise<Client> => editor.client();
});

describe("a web page", { skip: !hasDotnet }, () => {
  test("cannot reach the port: its POST closes the connection and nothing runs", async ({ skip }) => {
    const found = await findChromium();
    if ("missing" in found) return skip(found.missing);
    const editor = await start();
    const browser = await chromium.launch({ ...found, headless: true });
    try {
      const page = await browser.newPage();
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "execute-menu-item",
        params: { MenuItemPath: "Assets/Refresh" },
      });
      const framed = `Content-Length: ${body.length}\r\n\r\n${body}`;
      const answered = await page.evaluate(
        async ({ port, texts }) => {
          const seen: string[] = [];
          for (const text of texts) {
            try {
              const response = await fetch(`http://127.0.0.1:${port}/`, {
                method: "POST",
                mode: "no-cors",
                body: text,
                headers: { "content-type": "text/plain" },
              });
              seen.push(`answered ${response.type}`);
            } catch (error) {
              seen.push(`refused: ${(error as Error).message}`);
            }
          }
          return seen;
        },
        { port: editor.port, texts: [body, framed, `\r\n\r\n${framed}`] },
      );
      for (const one of answered) expect(one).toContain("refused");
      // It still serves others.
      const owner = await editor.owner();
      expect(await owner.request("ping", {})).toHaveProperty("Message");
      expect((await editor.do({ do: "status" })) as { executions: unknown[] }).toMatchObject({
        executions: [],
      });
    } finally {
      await browser.close();
    }
  });
});

describe("a disk", { skip: !hasDotnet }, () => {
  test("that refuses: what runs is reported, nothing else is invoked, and it heals by itself", async () => {
    const editor = await start();
    const owner = await editor.owner();
    await owner.submit("running", { arguments: block(0.3) });
    await owner.notice("operation/running");
    await owner.submit("queued", { arguments: block(0.01) });
    // It waits for the main thread.
    const breaking = editor.do({ do: "breakLedger", broken: true });
    expect(await owner.finished("running")).toMatchObject({ status: "completed" });
    await breaking;
    expect(await owner.refusal("operation/submit", owner.submitParams("later"))).toMatchObject({
      code: -32014,
      message: expect.stringContaining("No space left on device"),
    });
    await editor.do({ do: "breakLedger", broken: false });
    const afterwards = (): Promise<unknown> =>
      owner.submit("after", { arguments: block(0.01) }).catch((refused: unknown) => {
        expect(refused).toMatchObject({ code: -32014 });
      });
    let after = await afterwards();
    while (after === undefined) {
      await owner.notice("bridge/heartbeat");
      after = await afterwards();
    }
    expect(after).toMatchObject({ state: "accepted" });
    expect(await owner.finished("after")).toMatchObject({ status: "completed" });
    expect(await editor.begun("later")).toBe(0);
  });

  test("that refused a begin: a domain reload does not run it after all", async () => {
    const editor = await start();
    const owner = await editor.owner();
    await owner.submit("running", { arguments: block(0.3) });
    await owner.notice("operation/running");
    await owner.submit("refused", { arguments: block(0.01) });
    // Before the main thread is free again: its next begin finds the disk broken.
    const breaking = editor.do({ do: "breakLedger", broken: true });
    await breaking;
    expect(await owner.finished("refused")).toMatchObject({
      status: "failed",
      error: { type: "ledger_unavailable" },
    });
    await editor.do({ do: "reload", downMs: 10 });
    const after = await editor.owner();
    expect(await after.submit("refused", { arguments: block(0.01) })).toMatchObject({ state: "failed" });
    expect(await editor.begun("refused")).toBe(0);
  });

  test("that is slow holds up no heartbeat", async () => {
    const editor = await start();
    const owner = await editor.owner();
    await editor.do({ do: "slowDisk", ms: 2500 });
    await owner.notice("bridge/heartbeat");
    const submitted = owner.submit("op", { arguments: block(0.01) });
    await owner.notice("bridge/heartbeat");
    await owner.notice("bridge/heartbeat");
    await submitted;
    expect(await owner.finished("op")).toMatchObject({ status: "completed" });
    expect(await editor.begun("op")).toBe(1);
  });
});
