/** The operators' page in a real Chromium: what it shows, how it stays current, and how it is used without a mouse. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";
import { findingsIn } from "../../harness/operators/accessible.js";
import { chromiumHere, DESK, expectClean, PHONE, usePages } from "../../harness/operators/pages.js";
import { stage } from "../../harness/operators/staged.js";
import { restClient } from "../../harness/rest/rest-client.js";
import { eventually, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open, closers } = useTokenGateway(start);

if ("missing" in chromiumHere) console.warn(`The page is not tried in a browser: ${chromiumHere.missing}`);

describe.skipIf("missing" in chromiumHere)("in Chromium", () => {
  const pages = usePages();

  test("six calls are one execution, at a glance and in words", async () => {
    const served = await open();
    const { token, sixTimes } = await stage(served);
    const opened = await pages.logIn(served.origin, token, `/operators/operations/${sixTimes}`);
    const { page } = opened;
    await page.getByText("6 calls").first().waitFor();
    await page.getByText("1 execution").first().waitFor();
    await page
      .getByText("one created it, 5 joined it while it was in flight. The Editor executed it once.")
      .waitFor();
    expect(await page.locator(".lane-execution").count()).toBe(1);
    expect(await page.locator(".lane-call.lane-created").count()).toBe(1);
    expect(await page.locator(".lane-call.lane-joined").count()).toBe(5);
    // Three clients got the outcome, each by one of its calls.
    expect(await page.locator(".lane-call .answer").count()).toBe(3);
    expect(await page.locator(".segment-ran").count()).toBe(1);
    // It had reported before the page was opened.
    expect(await page.locator(".tick-progress").count()).toBeGreaterThan(0);
    // Found and measured in one go: each notice draws the page anew.
    const boxes = await page.locator("body").evaluate((body) =>
      [...body.querySelectorAll(".segment-ran, .lane-call .call")].map((each) => {
        const { x, right } = each.getBoundingClientRect();
        return { isRun: each.classList.contains("segment-ran"), x, right };
      }),
    );
    const calls = boxes.filter(({ isRun }) => !isRun).map(({ x }) => x);
    const ran = boxes.find(({ isRun }) => isRun)?.right;
    expect(calls).toHaveLength(6);
    expect(calls).toEqual(calls.toSorted((a, b) => a - b));
    expect(Math.max(...calls)).toBeLessThan(ran ?? 0);
    expect(await page.getByRole("img", { name: /^6 calls on one operation, completed: / }).count()).toBe(1);
    expect(served.system.executions("build")).toBe(1);
    expectClean(opened);
    served.system.bench.finish("tests");
  });

  test("to look changes nothing: the outcome is shown, and delivered to nobody", async () => {
    const served = await open();
    const token = await served.tokens.create("olivia", { role: "operate" });
    const [principal] = await served.tokens.list();
    const client = served.system.client(principal?.id);
    const { record } = await client.submit("work", { Name: "unread" });
    await client.outcome(record.logId);
    const { page } = await pages.logIn(served.origin, token, `/operators/operations/${record.logId}`);
    await page.getByText("The Editor executed it once.").waitFor();
    await page.getByText("What happened").waitFor();
    await page.getByText('"Done": "unread"').waitFor();
    expect((await served.system.record(record.logId)).firstDeliveredAt).toBeUndefined();
  });

  test("what happens is shown while it happens, without a reload", async () => {
    const served = await open();
    const token = await served.tokens.create("olivia", { role: "operate" });
    const rest = restClient(served.origin, await served.bearer("bob"));
    const opened = await pages.logIn(served.origin, token, "/operators/operations");
    const { page } = opened;
    await page.getByText("No operation was accepted yet.").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    const call = rest.call("work", { Name: "seen", Hold: true });
    await page.locator(".row [data-state=running]").waitFor();
    const [row] = (await rest.get("/operations")).body.operations;
    // People know each other by name; the id is there for those who look for it.
    await page.locator(`.cell-who[title="Principal ${row.principal}"]`, { hasText: "bob" }).waitFor();
    await page.getByRole("link", { name: "work", exact: true }).click();
    await page.locator("dd", { hasText: /^bob$/ }).waitFor();
    served.system.bench.report("seen", { progress: 30, total: 100, message: "Importing" });
    await page.locator(".progress", { hasText: /30 %.*Importing/ }).waitFor();
    served.system.bench.finish("seen");
    await page.locator(".operation-heading [data-state=completed]").waitFor();
    await call;
    // Another's arguments, result and lines are not an operator's to see.
    await page.getByText("its principal's own").waitFor();
    expect(await page.getByRole("button", { name: "Read the outcome" }).count()).toBe(0);
    expectClean(opened);
  });

  test("an operator pauses, drains, resumes and forgets, and cancels what others called", async () => {
    const served = await open();
    const { system } = served;
    const token = await served.tokens.create("olivia", { role: "operate" });
    const rest = restClient(served.origin, await served.bearer("bob"));
    const late = await system.addEditor({ projectPath: "/projects/late" });
    await system.present(late);
    const { editorId } = system.editor;
    const held = {
      tool: "work-cancellable",
      arguments: { Name: "held", Hold: true },
      editor: editorId,
      timeout: 0,
    };
    const { log_id } = (await rest.post("/operations", held)).body;
    await system.bench.begins("held");
    const { page } = await pages.logIn(served.origin, token, "/operators/editors");
    const row = page.locator(".editor", { hasText: editorId.split("@")[1] ?? "" });
    await row.getByRole("button", { name: "Drain" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drain it" }).click();
    await row.getByText("Draining").waitFor();
    expect(await system.store.queues.isPaused(editorId)).toBe(true);
    await row.getByRole("link", { name: "work-cancellable" }).click();
    await page.getByRole("button", { name: "Cancel it" }).click();
    await page.keyboard.press("Escape");
    expect((await system.record(log_id)).cancel).toBeUndefined();
    await page.getByRole("button", { name: "Cancel it" }).click();
    await page.getByRole("button", { name: "Cancel the operation" }).click();
    await page.locator(".operation-heading [data-state=cancelled]").waitFor();
    await page.goto(`${served.origin}/operators/editors`);
    await row.getByRole("button", { name: "Resume" }).click();
    await row.getByText("Idle", { exact: true }).waitFor();
    expect(await system.store.queues.isPaused(editorId)).toBe(false);
    await late.close();
    const gone = page.locator(".editor", { hasText: late.editorId.split("@")[1] ?? "" });
    await gone.getByRole("button", { name: "Forget" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await eventually(
      async () => !(await system.store.editors.ids()).includes(late.editorId),
      "it is forgotten",
    );
    await gone.waitFor({ state: "detached" });
    // Nothing runs anything again.
    for (const path of ["editors", "operations", `operations/${log_id}`, "pools", "clients"]) {
      await page.goto(`${served.origin}/operators/${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const names = await page.getByRole("button").allTextContents();
      expect(names.filter((name) => /again|retry|re-?run|force/i.test(name))).toEqual([]);
    }
    expect(system.executions("held")).toBe(1);
  });

  test("the role read sees its own, and nothing to do", async () => {
    const served = await open();
    const { running } = await stage(served);
    const token = await served.tokens.create("reader", { role: "read" });
    const opened = await pages.logIn(served.origin, token, "/operators/editors");
    const { page } = opened;
    await page.locator(".editor").first().waitFor();
    expect(await page.getByRole("button", { name: /Pause|Drain|Resume|Forget/ }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Audit" }).count()).toBe(0);
    await page.goto(`${served.origin}/operators/operations`);
    await page.getByText("You have no operations yet.").waitFor();
    expect(await page.getByLabel("Whose").count()).toBe(0);
    await page.goto(`${served.origin}/operators/operations/${running}`);
    await page.getByRole("alert").getByText("No operation of yours").waitFor();
    await page.getByRole("link", { name: "Your operations" }).click();
    await page.getByText("You have no operations yet.").waitFor();
    expect(opened.complaints).toEqual([]);
    served.system.bench.finish("tests");
  });

  test("a lost connection is said, with since when, and ends by itself", async () => {
    const served = await open();
    const token = await served.tokens.create("olivia", { role: "operate" });
    const { page } = await pages.logIn(served.origin, token, "/operators/editors");
    await page.locator(".editor").first().waitFor();
    await page.context().setOffline(true);
    await page.getByText(/Connection lost since \d\d:\d\d:\d\d\./).waitFor();
    expect(await page.locator(".editor").count()).toBe(1);
    await page.context().setOffline(false);
    await page.getByText(/Connection lost since/).waitFor({ state: "hidden" });
  });

  test("when Redis is back, it is told of changes again and no longer asks", async () => {
    const { system, tokens } = await open({}, { commandTimeoutMs: 300 });
    const { gateway, toRedis } = await system.addCabledGateway();
    const http = { gateway, log: createHeardLog(), version: "0", auth: tokens };
    const { url, close } = await createHttpGateway(http, { host: "127.0.0.1", port: 0 });
    closers.push(close);
    const token = await tokens.create("olivia", { role: "operate" });
    const { page } = await pages.logIn(new URL(url).origin, token, "/operators/editors");
    const status = page.locator(".connection");
    await status.getByText("Live").waitFor();
    toRedis.cut();
    await status.getByText("Connection lost").waitFor();
    toRedis.fix();
    await status.getByText("Live").waitFor();
  });

  test("a Redis whose settings lose data: no call is accepted, and why, until they fit", async () => {
    const served = await open();
    const token = await served.tokens.create("olivia", { role: "operate" });
    const { hand } = served.system;
    await hand.config("SET", "maxmemory-policy", "allkeys-lru");
    try {
      await hand.call("CLIENT", "KILL", "TYPE", "normal");
      const { page } = await pages.logIn(served.origin, token, "/operators/editors");
      const said = page.getByText("No call is accepted. Redis evicts data (maxmemory-policy allkeys-lru).");
      await said.waitFor();
      await hand.config("SET", "maxmemory-policy", "noeviction");
      await said.waitFor({ state: "hidden" });
    } finally {
      await hand.config("SET", "maxmemory-policy", "noeviction");
    }
  });

  test("names that are markup stay text", async () => {
    const served = await open();
    const token = await served.tokens.create("olivia", { role: "operate" });
    const name = '<img src=x onerror="document.title=1">';
    const rest = restClient(served.origin, { authorization: `Bearer ${token}`, "x-client-id": name });
    const { log_id } = (await rest.call("work", { Name: "one" })).body;
    const opened = await pages.logIn(served.origin, token, "/operators/operations");
    const { page } = opened;
    await page.getByText(name).first().waitFor();
    await page.goto(`${served.origin}/operators/operations/${log_id}`);
    await page.getByText(name).first().waitFor();
    await page.goto(`${served.origin}/operators/operations?q=${encodeURIComponent(name)}`);
    await page.getByText(name).first().waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expectClean(opened);
  });

  test("the keyboard is enough: / searches, Escape leaves, arrows walk, Enter opens, and the focus is seen", async () => {
    const served = await open();
    const { token, sixTimes } = await stage(served);
    const { page } = await pages.logIn(served.origin, token, "/operators/operations");
    await page.getByText("6 → 1").waitFor();
    const focused = (): Promise<string> =>
      page.evaluate(
        "((at) => (at.tagName + ' ' + (at.ariaLabel ?? at.textContent)).trim())(document.activeElement)",
      );
    const outlineOf = (part = ""): Promise<string> =>
      page.evaluate(`getComputedStyle(document.activeElement, ${JSON.stringify(part)}).outlineStyle`);
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("A Skip to the content");
    expect(await outlineOf()).toBe("solid");
    await page.keyboard.press("/");
    expect(await focused()).toBe("INPUT Search operations");
    await page.keyboard.type("work");
    await page.waitForURL(/q=work/);
    await page.getByText("look", { exact: true }).first().waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    expect(await focused()).not.toContain("INPUT");
    await page.keyboard.press("j");
    expect(await focused()).toBe("A work-cancellable");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("A work-cancellable");
    await page.keyboard.press("End");
    expect(await focused()).toBe("A work");
    expect(await outlineOf("::after")).toBe("solid");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${served.origin}/operators/operations/${sixTimes}`);
    await page.getByText("One execution").waitFor();
    await page.goBack();
    await page.waitForURL(/q=work/);
    served.system.bench.finish("tests");
  });

  test("filters are in the address, and are kept under a name", async () => {
    const served = await open();
    const { token } = await stage(served);
    const { page } = await pages.logIn(served.origin, token, "/operators/operations?state=failed&since=-1h");
    await page.locator(".row [data-state=failed]").waitFor();
    expect(await page.locator(".virtual .row").count()).toBe(1);
    expect(await page.getByRole("button", { name: "Failed" }).getAttribute("aria-pressed")).toBe("true");
    expect(await page.getByLabel("Since").inputValue()).toBe("-1h");
    await page.getByText("Saved filters").click();
    await page.getByLabel("Name of this filter").fill("Red today");
    await page.getByRole("button", { name: "Save this filter" }).click();
    await page.goto(`${served.origin}/operators/operations`);
    await page.getByText("6 → 1").waitFor();
    await page.getByText("Saved filters").click();
    await page.getByRole("link", { name: "Red today" }).click();
    await page.waitForURL(/state=failed&since=-1h/);
    await page.locator(".row [data-state=completed]").first().waitFor({ state: "detached" });
    served.system.bench.finish("tests");
  });

  test("axe finds nothing, light and dark, on a desk and on a phone", async () => {
    const served = await open();
    const { token, sixTimes, running } = await stage(served, ["racing"]);
    const expectAccessible = async (page: Page, path: string): Promise<void> => {
      for (const [name, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          expect([path, name, colorScheme, await findingsIn(page)]).toEqual([path, name, colorScheme, []]);
        }
        const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        expect([path, name, "is wider than the window", isWide]).toEqual([
          path,
          name,
          "is wider than the window",
          false,
        ]);
      }
    };
    const opened = await pages.open(served.origin);
    await opened.page.goto(`${served.origin}/operators/login`);
    await expectAccessible(opened.page, "login");
    const { page, ...watched } = await pages.logIn(served.origin, token, "/operators/editors");
    const places = [
      "editors",
      "operations",
      `operations/${sixTimes}`,
      `operations/${running}`,
      "pools",
      "clients",
      "audit",
    ];
    for (const path of places) {
      await page.goto(`${served.origin}/operators/${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle").catch(() => undefined);
      await expectAccessible(page, path);
    }
    expectClean({ page, ...watched });
    served.system.bench.finish("tests");
  });
});
