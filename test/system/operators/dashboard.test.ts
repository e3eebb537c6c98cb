/** The dashboard in a real Chromium, and direct requests to its API. */
import { appRoutes } from "@bull-board/api/dist/routes.js";
import { Queue } from "bullmq";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Authenticator } from "../../../src/gateway/auth/authenticator.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { jobIdOf } from "../../../src/shared/operation/operation.js";
import { LOCAL } from "../../../src/shared/principal.js";
import { BULL_PREFIX, queueName } from "../../../src/shared/store/keys.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";
import { findChromium } from "../../harness/programs/chromium.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const TOKEN = "a-token-of-the-operator";
const SECRET = "nobody-may-read-this";

const { start } = useSystem();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const auth: Authenticator = {
  identify: async (token) =>
    token === TOKEN ? { principal: { ...LOCAL, role: "operate" }, tokenId: "1" } : undefined,
  find: async () => LOCAL,
  isValid: async () => true,
};

interface Served {
  system: System;
  origin: string;
  /** The operation that finished on the first Editor. */
  logId: string;
  ask(path: string, init?: RequestInit): Promise<Response>;
}

/** A gateway with tokens, two Editors, an operation that has finished and one that fails. */
async function serve(): Promise<Served> {
  const system = await start();
  const http = await createHttpGateway(
    { gateway: system.gateway, log: createHeardLog(), version: "0.0.0", auth },
    { host: "127.0.0.1", port: 0 },
  );
  closers.push(http.close);
  const { origin } = new URL(http.url);
  const ann = system.client("ann");
  const { record } = await ann.submit("work", { Name: "one", Data: SECRET });
  await ann.outcome(record.logId);
  const authorization = `Bearer ${TOKEN}`;
  return {
    system,
    origin,
    logId: record.logId,
    ask: (path, init = {}) => fetch(`${origin}${path}`, { ...init, headers: { authorization } }),
  };
}

interface BoardAnswer {
  queues: { name: string; readOnlyMode: boolean; allowRetries: boolean; jobs: Record<string, unknown>[] }[];
}

describe("the dashboard", () => {
  test("without a token there is no dashboard, and a wrong one is none", async () => {
    const { origin } = await serve();
    const status = async (path: string, authorization?: string): Promise<number> => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await fetch(`${origin}${path}`, { headers });
      if (answer.status === 401) {
        expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm="Unity Job Broker"/);
      }
      return answer.status;
    };
    const basic = (password: string) => `Basic ${Buffer.from(`anybody:${password}`).toString("base64")}`;
    for (const path of [
      "/dashboard",
      "/dashboard/",
      "/dashboard/api/queues",
      "/dashboard/queue/x",
      "/metrics",
    ]) {
      expect(await status(path), path).toBe(401);
      expect(await status(path, "Bearer wrong"), path).toBe(401);
      expect(await status(path, basic("wrong")), path).toBe(401);
      expect(await status(path, TOKEN), path).toBe(401);
      expect(await status(path, `Bearer ${TOKEN}`), path).toBe(200);
      expect(await status(path, basic(TOKEN)), path).toBe(200);
    }
    for (const open of ["/healthz", "/readyz"]) expect(await status(open), open).toBe(200);
  });

  test("jobs show tool, Editor and state, and nothing that was said or answered", async () => {
    const { system, ask, logId } = await serve();
    const { editorId } = system.editor;
    const record = await system.record(logId);
    const queue = queueName(editorId, "main");
    const paths = [
      `/dashboard/api/queues?activeQueue=${queue}&status=latest&page=1&jobsPerPage=10`,
      `/dashboard/api/queues/${queue}/${jobIdOf(record)}`,
    ];
    // Added manually, with more in it than the broker puts into a job.
    const hand = new Queue(queue, { connection: system.redis.connection, prefix: BULL_PREFIX });
    closers.push(() => hand.close());
    await hand.pause();
    await hand.add("made manually", { logId: { SECRET }, secret: SECRET }, { jobId: "manual" });
    await hand.updateJobProgress("manual", { secret: SECRET });
    for (const path of [...paths, `/dashboard/api/queues/${queue}/manual`]) {
      const answer = await ask(path);
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain('"ann"');
      if (path.endsWith("manual")) expect(text).toContain('"known":false');
      else {
        const body = JSON.parse(text) as Partial<BoardAnswer> & { job?: Record<string, unknown> };
        const job = body.job ?? body.queues?.flatMap(({ jobs }) => jobs).find(({ name }) => name === "work");
        expect(job).toMatchObject({
          name: "work",
          data: { operation: logId, tool: "work", editor: editorId, state: "completed", effect: "mutating" },
          returnValue: { processed: "settled" },
        });
      }
    }
    await hand.resume();
    await hand.remove("manual").catch(() => 0);
  });

  test("what failed is among the failed jobs, with the code of its error and without its text", async () => {
    const { system, ask } = await serve();
    const { record } = await system.client("ann").submit("work", { Name: "two", Hold: true });
    await system.bench.begins("two");
    system.bench.fail("two", SECRET);
    await system.client("ann").outcome(record.logId);
    const queue = queueName(system.editor.editorId, "main");
    await eventually(async () => {
      const answer = await ask(
        `/dashboard/api/queues?activeQueue=${queue}&status=failed&page=1&jobsPerPage=10`,
      );
      const text = await answer.text();
      expect(text).not.toContain(SECRET);
      const jobs = (JSON.parse(text) as BoardAnswer).queues.flatMap((each) => each.jobs);
      return jobs.some(({ failedReason }) => /^TOOL_FAILED \(\w+\)$/.test(String(failedReason)));
    }, "it is shown");
  });

  test("nothing can be changed: every method but reading is refused, and the jobs stay as they are", async () => {
    const { system, ask, logId } = await serve();
    const record = await system.record(logId);
    const queue = queueName(system.editor.editorId, "main");
    const job = `/dashboard/api/queues/${queue}/${jobIdOf(record)}`;
    const filled = (path: string): string =>
      `/dashboard${path}`
        .replace(":queueName", queue)
        .replace(":jobId", jobIdOf(record))
        .replace(/:\w+/, "completed");
    // Every route of this version of Bull Board.
    const routes = appRoutes.api.flatMap(({ method, route }) =>
      [method].flat().flatMap((verb) => [route].flat().map((path) => [verb.toUpperCase(), filled(path)])),
    );
    const attempts = routes.filter(([method]) => method !== "GET");
    expect(attempts).toContainEqual(["PUT", `${job}/promote`]);
    expect(attempts.length).toBeGreaterThan(15);
    const [main] = system.store.queues.lanesOf(system.editor.editorId);
    const before = [await main?.getJobCounts(), await (await main?.getJob(jobIdOf(record)))?.asJSON()];
    for (const [method, path = ""] of routes.filter(([method]) => method === "GET")) {
      expect((await ask(path)).status, `${method} ${path}`).toBeLessThan(500);
    }
    for (const [method = "", path = ""] of attempts) {
      const answer = await ask(path, { method });
      expect(`${method} ${path} ${answer.status}`).toBe(`${method} ${path} 405`);
    }
    expect([await main?.getJobCounts(), await (await main?.getJob(jobIdOf(record)))?.asJSON()]).toEqual(
      before,
    );
    expect(await main?.getJobState(jobIdOf(record))).toBe("completed");
    expect(await main?.isPaused()).toBe(false);
    expect(system.executions("one")).toBe(1);
  });

  test("an Editor that appears later has its queues without a restart, one that is forgotten has none", async () => {
    const { system, ask } = await serve();
    const names = async (): Promise<string[]> => {
      const { queues } = (await (await ask("/dashboard/api/queues")).json()) as BoardAnswer;
      expect(queues.every(({ readOnlyMode, allowRetries }) => readOnlyMode && !allowRetries)).toBe(true);
      return queues.map(({ name }) => name).sort();
    };
    const lanesOf = (editorId: string) => [queueName(editorId, "background"), queueName(editorId, "main")];
    expect(await names()).toEqual(lanesOf(system.editor.editorId));
    const late = await system.addEditor();
    await system.present(late);
    expect(await names()).toEqual([...lanesOf(system.editor.editorId), ...lanesOf(late.editorId)].sort());
    await late.close();
    await system.away(late);
    await system.store.editors.forget(late.editorId);
    expect(await names()).toEqual(lanesOf(system.editor.editorId));
  });
});

const found = await findChromium();
if ("missing" in found) console.warn(`The dashboard is not tried in a browser: ${found.missing}`);

describe.skipIf("missing" in found)("in Chromium", () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const elsewhere: string[] = [];

  beforeAll(async () => {
    if ("missing" in found) throw new Error(found.missing);
    browser = await chromium.launch(found);
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    complaints.length = 0;
    elsewhere.length = 0;
  });

  const open = async ({ origin }: Served): Promise<void> => {
    context = await browser.newContext({
      httpCredentials: { username: "operator", password: TOKEN, origin },
      viewport: { width: 1280, height: 800 },
    });
    closers.push(() => context.close());
    page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(origin) && !request.url().startsWith("data:"))
        elsewhere.push(request.url());
    });
  };

  test("shows every queue and a finished operation, offers no retry, and complains of nothing", async () => {
    const served = await serve();
    const { system, logId } = served;
    const late = await system.addEditor();
    await system.present(late);
    const ann = system.client("ann");
    const running = await ann.submit("work", { Name: "long", Hold: true }, { editor: late.editorId });
    await system.bench.begins("long");
    await open(served);

    await page.goto(`${served.origin}/dashboard`);
    for (const { editorId } of [system.editor, late]) {
      for (const lane of ["main", "background"] as const) {
        await page.getByText(queueName(editorId, lane)).first().waitFor();
      }
    }
    const queue = queueName(system.editor.editorId, "main");
    await page.goto(`${served.origin}/dashboard/queue/${encodeURIComponent(queue)}?status=completed`);
    await page.getByText(logId).first().waitFor();
    await page.getByText(system.editor.editorId).first().waitFor();
    expect(await page.getByText(SECRET).count()).toBe(0);
    const buttons = await page
      .getByRole("button")
      .evaluateAll((all) =>
        all.map((button) =>
          `${button.getAttribute("aria-label") ?? ""} ${button.getAttribute("title") ?? ""} ${button.textContent ?? ""}`.trim(),
        ),
      );
    expect(
      buttons.filter((name) => /retry|clean|remove|promote|pause|empty|obliterate|add job/i.test(name)),
    ).toEqual([]);

    // What a button would ask for, with the browser's own credentials.
    const record = await system.record(logId);
    const refused = await page.request.put(
      `${served.origin}/dashboard/api/queues/${queue}/${jobIdOf(record)}/retry`,
    );
    expect(refused.status()).toBe(405);

    expect(complaints).toEqual([]);
    expect(elsewhere).toEqual([]);
    system.bench.finish("long");
    await ann.outcome(running.record.logId);
    await eventually(() => system.executions("one") === 1, "still executed once");
  });

  test("a browser without a token sees nothing", async () => {
    const served = await serve();
    const stranger = await browser.newContext();
    closers.push(() => stranger.close());
    const opened = await (await stranger.newPage())
      .goto(`${served.origin}/dashboard`)
      .catch((error: Error) => error);
    // Chromium answers the challenge with a dialogue of its own, or with the page of the refusal.
    if (opened instanceof Error) expect(opened.message).toMatch(/ERR_INVALID_AUTH_CREDENTIALS|401/);
    else expect(opened?.status()).toBe(401);
  });
});
