/** The operators' page in a real Chromium, which must find nothing to complain of. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type Chromium, findChromium } from "../programs/chromium.js";

export interface OpenedPage {
  page: Page;
  /** Errors and warnings of the console, errors of scripts, and violations of the content policy. */
  complaints: string[];
  /** Requests to anywhere but the gateway. */
  elsewhere: string[];
}

export const chromiumHere: Chromium | { missing: string } = await findChromium();

export const DESK = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

/** At the top of a describe that is skipped where there is no Chromium. Every page is closed behind its test. */
export function usePages(): {
  open(origin: string, options?: BrowserContextOptions): Promise<OpenedPage>;
  /** Opens the page by its login. */
  logIn(origin: string, token: string, path?: string, options?: BrowserContextOptions): Promise<OpenedPage>;
} {
  let browser: Browser;
  const closers: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    if ("missing" in chromiumHere) throw new Error(chromiumHere.missing);
    browser = await chromium.launch(chromiumHere);
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  afterAll(() => browser?.close());

  const open = async (origin: string, options: BrowserContextOptions = {}): Promise<OpenedPage> => {
    const context = await browser.newContext({ viewport: DESK, ...options });
    closers.push(() => context.close());
    const page = await context.newPage();
    const [complaints, elsewhere]: [string[], string[]] = [[], []];
    page.on("console", (message) => {
      // Chromium reports each answer of 4xx by itself; a test that causes one looks at it.
      if (
        ["error", "warning"].includes(message.type()) &&
        !/the server responded with a status of 4/.test(message.text())
      )
        complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${origin}/`)) elsewhere.push(request.url());
    });
    return { page, complaints, elsewhere };
  };

  return {
    open,
    async logIn(origin, token, path = "/operators", options = {}) {
      const opened = await open(origin, options);
      await opened.page.goto(`${origin}${path}`);
      await opened.page.getByLabel("Token").fill(token);
      await opened.page.getByRole("button", { name: "Log in" }).click();
      await opened.page.getByRole("navigation").waitFor();
      return opened;
    },
  };
}

/** Nothing was complained of, and nothing asked of anybody else. */
export function expectClean({ complaints, elsewhere }: OpenedPage): void {
  expect(complaints).toEqual([]);
  expect(elsewhere).toEqual([]);
}
