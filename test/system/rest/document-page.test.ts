/** The page of the document in a real browser: it shows the routes, and its policy refuses nothing that it needs. */
import { chromium } from "playwright-core";
import { describe, expect, test } from "vitest";
import { findChromium } from "../../harness/programs/chromium.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const gateways = useTokenGateway(start);
const found = await findChromium();
if ("missing" in found) console.warn(`The page is not tried in a browser: ${found.missing}`);

describe.skipIf("missing" in found)("in a browser", () => {
  test("with a token as the password", async () => {
    if ("missing" in found) return;
    const { origin, tokens } = await gateways.open();
    const password = await tokens.create("ann");
    const browser = await chromium.launch(found);
    gateways.closers.push(() => browser.close());
    const context = await browser.newContext({ httpCredentials: { username: "any", password } });
    const page = await context.newPage();
    const [asked, complaints]: [string[], string[]] = [[], []];
    page.on("request", (request) => asked.push(new URL(request.url()).origin));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`${origin}/api/v1/docs/`);
    await page.getByText("/api/v1/operations/{id}/history").waitFor();
    expect(await page.locator(".opblock").count()).toBeGreaterThan(20);
    expect(complaints).toEqual([]);
    expect(asked.filter((each) => each !== origin && each !== "null")).toEqual([]);
  });
});
