/** 200 Editors and 100 000 operations: the page shows what is seen, and finds what is looked for. */
import { describe, expect, test } from "vitest";
import { addEditors, addOperations } from "../../harness/operators/crowd.js";
import { chromiumHere, expectClean, usePages } from "../../harness/operators/pages.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const [EDITORS, OPERATIONS] = [200, 100_000];

const { start } = useSystem();
const { open } = useTokenGateway(start);

describe.skipIf("missing" in chromiumHere)("in Chromium", () => {
  const pages = usePages();

  test("Editors are found by their words, operations as one scrolls", async () => {
    const served = await open({}, { worker: null });
    const { system } = served;
    const token = await served.tokens.create("olivia", { role: "operate" });
    const took: string[] = [];
    const timed = async (what: string, task: () => Promise<unknown>): Promise<void> => {
      const begun = performance.now();
      await task();
      took.push(`${what}: ${Math.round(performance.now() - begun)} ms`);
      console.log(took.at(-1));
    };

    const now = await system.store.operations.now();
    await addEditors(system.hand, EDITORS, now);
    await addOperations(system.hand, "somebody", OPERATIONS, now);
    const opened = await pages.logIn(served.origin, token);
    const { page } = opened;
    const painted = async (): Promise<void> => {
      const ms = await page.evaluate<number>(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0",
      );
      took.push(`first paint: ${Math.round(ms)} ms`);
    };
    await timed(`${EDITORS} Editors`, async () => {
      await page.goto(`${served.origin}/operators/editors`);
      await page
        .locator(".editor")
        .nth(EDITORS - 1)
        .waitFor();
    });
    await painted();
    await timed("an Editor is found", async () => {
      await page.getByLabel("Search Editors").fill("project-137 ios");
      await page.locator(".editor").nth(1).waitFor({ state: "detached" });
    });
    expect(await page.locator(".editor").count()).toBe(1);

    await timed("the newest operations", async () => {
      await page.goto(`${served.origin}/operators/operations`);
      await page.locator(".virtual .row").nth(10).waitFor();
    });
    await painted();
    const rowAt = () =>
      page
        .locator(".virtual li")
        .evaluateAll((all) => Math.max(...all.map((row) => Number(row.getAttribute("aria-posinset")))));
    await timed("two thousand rows further", async () => {
      while ((await rowAt()) < 2_000) {
        await page.mouse.wheel(0, 4_000);
        await page.evaluate("new Promise((next) => requestAnimationFrame(next))");
      }
    });
    // What cannot be seen is not in the document.
    expect(await page.locator(".virtual li").count()).toBeLessThan(60);
    const frames = await page.evaluate<number[]>(`new Promise((resolve) => {
      const frames = [];
      let last = performance.now();
      const step = (now) => {
        frames.push(now - last);
        last = now;
        scrollBy(0, -300);
        if (frames.length < 120) requestAnimationFrame(step);
        else resolve(frames.sort((a, b) => a - b));
      };
      requestAnimationFrame(step);
    })`);
    took.push(
      `frames while scrolling: median ${frames[60]?.toFixed(1)} ms, slowest tenth ${frames[108]?.toFixed(1)} ms`,
    );
    await timed("a word that one of them has", async () => {
      await page.getByLabel("Search operations").fill("Test 96003 failed");
      await page.locator(".virtual .row").nth(1).waitFor({ state: "detached" });
      await page.locator(".virtual .row").waitFor();
    });
    expectClean(opened);
    console.log(`${EDITORS} Editors, ${OPERATIONS} operations: ${took.join("; ")}`);
  });
});
