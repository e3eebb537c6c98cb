/** The login of browsers: a token becomes a cookie, which is no use to other pages. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { PAGE_HEADER } from "../../../src/gateway/auth/own-page.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { keys } from "../../../src/shared/store/keys.js";
import { openEventStream } from "../../harness/mcp/event-stream.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";
import { chromiumHere, expectClean, usePages } from "../../harness/operators/pages.js";
import { eventually, useSystem } from "../../harness/system/system.js";
import { type TokenGateway, useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open, closers } = useTokenGateway(start);

interface Form {
  token: string;
  to?: string;
  headers?: Record<string, string>;
}

function post(origin: string, { token, to, headers = {} }: Form): Promise<Response> {
  const body = new URLSearchParams({ token, ...(to === undefined ? {} : { to }) });
  return fetch(`${origin}/operators/login`, { method: "POST", body, headers, redirect: "manual" });
}

/** The cookie as a browser sends it back. */
const sentBack = (answer: Response): string => answer.headers.get("set-cookie")?.split(";")[0] ?? "";

/** With the role that may pause Editors. */
async function loggedIn(served: TokenGateway): Promise<{ cookie: string }> {
  const answer = await post(served.origin, {
    token: await served.tokens.create("olivia", { role: "operate" }),
  });
  return { cookie: sentBack(answer) };
}

describe("a login", () => {
  test("sets a cookie that no script reads, and opens the operators' pages and the API, not MCP", async () => {
    const served = await open();
    const { origin, url, tokens } = served;
    const token = await tokens.create("olivia", { role: "admin" });
    const answer = await post(origin, { token, to: "/operators/operations?tool=work" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/operators/operations?tool=work"]);
    const set = answer.headers.get("set-cookie") ?? "";
    expect(set).toMatch(
      /^unity_broker_login_\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expect(set).not.toContain(token);
    const cookie = sentBack(answer);
    for (const path of ["/api/v1/me", "/dashboard", "/metrics", "/audit", "/api/v1/docs/"])
      expect([path, (await fetch(`${origin}${path}`, { headers: { cookie } })).status]).toEqual([path, 200]);
    const policy = (await fetch(`${origin}/operators`)).headers.get("content-security-policy");
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/);
    expect((await fetch(url, { headers: { cookie, accept: "text/event-stream" } })).status).toBe(401);
  });

  test("behind a proxy that speaks https, the cookie is sent by https only", async () => {
    const { origin, tokens } = await open();
    const token = await tokens.create("olivia");
    const answer = await post(origin, { token, headers: { "x-forwarded-proto": "https" } });
    expect(answer.headers.get("set-cookie")).toMatch(/; Secure$/);
  });

  test("leads to the gateway's own pages only", async () => {
    const { origin, tokens } = await open({ login: { tries: 100 } });
    const token = await tokens.create("olivia");
    for (const to of [
      "https://evil.test/",
      "//evil.test/operators",
      "/operators\\evil",
      "/mcp",
      "/operators/../mcp",
      "",
    ]) {
      const answer = await post(origin, { token, to });
      expect([to, answer.headers.get("location")]).toEqual([to, "/operators"]);
    }
  });

  test("with a wrong token says what to do, escapes what it shows, and takes its time", async () => {
    const { origin, tokens } = await open({ login: { wrongMs: 1_000 } });
    const token = await tokens.create("olivia");
    const order: string[] = [];
    const noted = async (name: string, answer: Promise<Response>) => {
      await answer;
      order.push(name);
      return answer;
    };
    const [answer] = await Promise.all([
      noted("wrong", post(origin, { token: "wrong", to: '/operators"><script>' })),
      noted("right", post(origin, { token })),
    ]);
    expect(order).toEqual(["right", "wrong"]);
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([401, null]);
    const page = await answer.text();
    expect(page).toContain("<code>unity-broker token local</code>");
    expect(page).not.toContain("<script");
  });

  test("may be wrong so often in a minute; a right one is never counted and never refused", async () => {
    const { origin, tokens } = await open({ login: { tries: 3, wrongMs: 0 } });
    const token = await tokens.create("olivia");
    const isLoggedIn = async (): Promise<void> => {
      const answer = await post(origin, { token });
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([303, expect.any(String)]);
    };
    for (let tries = 0; tries < 3; tries += 1) {
      expect((await post(origin, { token: "wrong" })).status).toBe(401);
      await isLoggedIn();
    }
    const refused = await post(origin, { token: "wrong" });
    expect([refused.status, refused.headers.get("set-cookie")]).toEqual([429, null]);
    expect(await refused.text()).toContain("Wait a minute");
    await isLoggedIn();
  });

  test("while Redis has no memory left says so, and sets no cookie", async () => {
    const { origin, tokens, system } = await open();
    const token = await tokens.create("olivia");
    await system.hand.config("SET", "maxmemory", "1");
    try {
      const refused = await post(origin, { token });
      expect([refused.status, refused.headers.get("set-cookie")]).toEqual([507, null]);
      expect(await refused.text()).toContain("Redis has no memory left");
    } finally {
      await system.hand.config("SET", "maxmemory", "0");
    }
  });

  test("from another page's form is refused", async () => {
    const { origin, tokens } = await open();
    const token = await tokens.create("olivia");
    const { hostname, port } = new URL(origin);
    const elsewhere = [
      { origin: `http://${hostname}:${Number(port) + 1}` },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
    ];
    for (const headers of elsewhere) {
      const answer = await post(origin, { token, headers });
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([403, null]);
    }
  });

  test("a gateway without tokens needs none", async () => {
    const system = await start();
    const http = await createHttpGateway(
      { gateway: system.gateway, log: createHeardLog(), version: "0" },
      { host: "127.0.0.1", port: 0 },
    );
    closers.push(http.close);
    const { origin } = new URL(http.url);
    const answer = await fetch(`${origin}/operators/login`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/operators"]);
    expect(await (await fetch(`${origin}/operators`)).text()).toContain('data-login="no"');
  });
});

describe("it ends", () => {
  const isIn = async (origin: string, cookie: string): Promise<boolean> =>
    (await fetch(`${origin}/api/v1/me`, { headers: { cookie } })).status === 200;

  test("with the logout, wherever its cookie was copied to, and with it what it has open", async () => {
    const served = await open();
    const { cookie } = await loggedIn(served);
    expect(await isIn(served.origin, cookie)).toBe(true);
    const events = await openEventStream(`${served.origin}/api/v1/events`, { cookie });
    await events.next(({ event }) => event === "ready");
    const headers = { cookie, [PAGE_HEADER]: "1" };
    const answer = await fetch(`${served.origin}/operators/logout`, { method: "POST", headers });
    expect([answer.status, answer.headers.get("set-cookie")?.includes("Max-Age=0")]).toEqual([204, true]);
    expect(await isIn(served.origin, cookie)).toBe(false);
    await events.ended;
  });

  test("with its token, and a role that was taken away is gone at once", async () => {
    const served = await open();
    const { cookie } = await loggedIn(served);
    const metrics = async () => (await fetch(`${served.origin}/metrics`, { headers: { cookie } })).status;
    expect(await metrics()).toBe(200);
    await served.tokens.grant("olivia", { role: "submit" });
    expect(await metrics()).toBe(403);
    await served.tokens.revoke("olivia");
    expect(await isIn(served.origin, cookie)).toBe(false);
  });

  test("with its time: the store keeps a digest of it, no longer than that", async () => {
    const served = await open();
    const { cookie } = await loggedIn(served);
    const found = await served.system.hand.keys(keys.login("*"));
    expect(found).toHaveLength(1);
    const [key = ""] = found;
    expect(key).not.toContain(cookie.split("=")[1]);
    expect(await served.system.hand.pttl(key)).toBeGreaterThan(11 * 3_600_000);
    await served.system.hand.pexpire(key, 1);
    await eventually(async () => !(await isIn(served.origin, cookie)), "it has ended");
  });
});

describe("what a cookie may do", () => {
  const pause = (served: TokenGateway, headers: Record<string, string>) =>
    fetch(`${served.origin}/api/v1/editors/${encodeURIComponent(served.system.editor.editorId)}/pause`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
    });

  test("an effect needs the page's header and its origin; a bearer needs neither", async () => {
    const served = await open();
    const { cookie } = await loggedIn(served);
    const page = { cookie, [PAGE_HEADER]: "1" };
    const { port } = new URL(served.origin);
    const refused = [
      { cookie },
      { ...page, origin: `http://127.0.0.1:${Number(port) + 1}` },
      { ...page, origin: `http://localhost:${port}` },
      { ...page, "sec-fetch-site": "same-site" },
      { ...page, [PAGE_HEADER]: "0" },
    ];
    for (const headers of refused) {
      const answer = await pause(served, headers);
      expect([headers, answer.status]).toEqual([headers, 403]);
      expect(await answer.json()).toMatchObject({ error_code: "CROSS_SITE_REQUEST" });
    }
    const { editorId } = served.system.editor;
    expect(await served.system.store.queues.isPaused(editorId)).toBe(false);
    expect(
      (await pause(served, { ...page, origin: served.origin, "sec-fetch-site": "same-origin" })).status,
    ).toBe(200);
    expect(await served.system.store.queues.isPaused(editorId)).toBe(true);
    expect((await pause(served, await served.bearer("bob", { role: "operate" }))).status).toBe(200);
  });

  test("a WebSocket opens for the own page only", async () => {
    const served = await open();
    const { cookie } = await loggedIn(served);
    const { port } = new URL(served.origin);
    const upgrade = { cookie, connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    const statusOf = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const asked = request(`${served.origin}/api/v1/me`, { headers });
        asked.on("response", (answer) => resolve(answer.resume().statusCode ?? 0));
        asked.on("error", reject);
        asked.end();
      });
    expect(await statusOf(upgrade)).toBe(403);
    expect(await statusOf({ ...upgrade, origin: `http://127.0.0.1:${Number(port) + 1}` })).toBe(403);
  });
});

describe.skipIf("missing" in chromiumHere)("in Chromium", () => {
  const pages = usePages();

  test("a wrong token, the right one, and the logout", async () => {
    const { origin, tokens } = await open();
    const token = await tokens.create("olivia", { role: "operate" });
    const opened = await pages.open(origin);
    const { page } = opened;
    await page.goto(`${origin}/`);
    await page.waitForURL(/\/operators\/login/);
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("unity-broker token local").waitFor();
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Editors" }).waitFor();
    const readable = await page.evaluate(
      "[document.cookie, JSON.stringify({ ...localStorage, ...sessionStorage })].join()",
    );
    expect(readable).toBe(",{}");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Token").waitFor();
    await page.goto(`${origin}/operators/operations?state=failed`);
    await page.getByLabel("Token").waitFor();
    expect(await page.locator("input[name=to]").inputValue()).toBe("/operators/operations?state=failed");
    expectClean(opened);
  });

  test("a page of another port of this machine, which is the same site, pauses nothing", async () => {
    const served = await open();
    const token = await served.tokens.create("olivia", { role: "operate" });
    const { page } = await pages.logIn(served.origin, token);
    const other = createServer((_request, response) =>
      response.setHeader("content-type", "text/html").end("<p>other"),
    );
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    closers.push(() => other.close());
    closers.push(() => other.closeAllConnections());
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const target = `${served.origin}/api/v1/editors/${encodeURIComponent(served.system.editor.editorId)}`;
    const answered = page.waitForResponse(
      (response) => response.url().startsWith(target) && response.request().method() === "POST",
    );
    // What a page may send without being asked: with the cookie, since the site is the same.
    await page.evaluate((at) => {
      void fetch(`${at}/pause`, { method: "POST", mode: "no-cors", credentials: "include" });
    }, target);
    expect((await answered).status()).toBe(403);
    const asked = page.evaluate(
      (at) =>
        fetch(`${at}/pause`, {
          method: "POST",
          credentials: "include",
          headers: { "x-unity-broker-page": "1" },
        }).then(
          () => "answered",
          () => "refused",
        ),
      target,
    );
    expect(await asked).toBe("refused");
    expect(await served.system.store.queues.isPaused(served.system.editor.editorId)).toBe(false);
  });
});
