/** The recording and the pictures of the README: what they show is so today, and every browser may show it. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { findChromium } from "../../harness/programs/chromium.js";
import { draw } from "../../recording/draw.js";
import { record } from "../../recording/record.js";

const GUIDE = resolve(import.meta.dirname, "../../../docs/guide");
const DRAWINGS = readdirSync(GUIDE, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".svg"),
);
const read = (name: string): string => readFileSync(join(GUIDE, name), "utf8");

/** Its rows, without what is another in every run. */
function rowsOf(svg: string): string[] {
  const rows = [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, marked = ""]) =>
    marked
      .replace(/<[^>]*>/g, "")
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, "<log_id>")
      .replace(/127\.0\.0\.1:\d+/, "<address>")
      .replace(/waited \d+ s/, "waited some s")
      .replace(/: \d+ s, .*/, ": some s"),
  );
  // How often it is asked before the end depends on the machine.
  return rows.filter((row, index) => !row.includes("waited some s") || row !== rows[index - 1]);
}

describe("docs/guide/demo.svg", () => {
  const { here } = useCommandLine();

  // Where the machine stands still for seconds, the demo's call may end before its retries come.
  test("shows what the demo prints today", { retry: 2 }, async () => {
    const today = draw(await record(["demo"], here().env));
    const why = "docs/guide/demo.svg is stale: renew it with `npm run recording`";
    expect(rowsOf(read("demo.svg")), why).toEqual(rowsOf(today));
  });
});

describe("a recording", () => {
  const at = (svg: string): string[] =>
    [...svg.matchAll(/@keyframes f\d+\{0%\{visibility:hidden\}([\d.]+)%/g)].map(
      ([, percent = ""]) => percent,
    );

  test("is drawn in real time, and says when a long pause is shortened", () => {
    const lines = (...times: number[]) => times.map((time) => ({ at: time, text: `at ${time}` }));
    const real = draw({ command: "x", lines: lines(500, 1_500, 2_500) });
    expect(real).toContain(">x: 3 s, in real time</title>");
    // 0.5 s of the prompt before, 8 s of the last picture after: 11 s.
    expect(at(real)).toEqual(["9.09", "18.18", "27.27"]);
    const cut = draw({ command: "x", lines: lines(500, 60_500) });
    expect(cut).toContain(">x: 61 s, long pauses are shortened</title>");
    expect(cut).toMatch(/animation:11\.5s/);
  });

  test("shows colours, breaks long lines as a terminal does, and refuses what it cannot show", () => {
    const one = (text: string): string => draw({ command: "x", lines: [{ at: 0, text }] });
    expect(one("\u001b[32m<ok>\u001b[39m &")).toContain('<tspan class="c32">&lt;ok&gt;</tspan> &amp;</text>');
    expect(rowsOf(one("x".repeat(80))).slice(-2)).toEqual(["x".repeat(74), "x".repeat(6)]);
    expect(() => one("\u001b[2J")).toThrow(/colours only/);
    expect(() => one("\u001b[45m")).toThrow(/does not know the colour 45/);
  });
});

test.each(DRAWINGS)("%s is small, and holds nothing that acts or loads", (name) => {
  const svg = read(name);
  expect(Buffer.byteLength(svg)).toBeLessThan(150_000);
  expect(svg).not.toMatch(
    /<script|<foreignObject|<image|<use|<a[ >]|\son\w+=|href|url\(|@import|javascript:/i,
  );
});

test("the light and the dark picture differ in their colours alone", () => {
  const shape = (name: string): string => read(name).replace(/#[0-9a-f]{6}/g, "<colour>");
  expect(shape("timeout-dark.svg")).toBe(shape("timeout-light.svg"));
});

const found = await findChromium();
if ("missing" in found) console.warn(`The drawings are not tried in a browser: ${found.missing}`);

describe.skipIf("missing" in found)("in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    if ("missing" in found) throw new Error(found.missing);
    browser = await chromium.launch(found);
  });
  afterAll(() => browser?.close());

  const open = async (name: string, reducedMotion: "reduce" | "no-preference") => {
    const page = await browser.newPage({ reducedMotion });
    await page.goto(pathToFileURL(join(GUIDE, name)).href);
    return page;
  };

  test.each(DRAWINGS)("%s is well-formed, and none of its words is outside of it", async (name) => {
    const page = await open(name, "reduce");
    // Functions that run in the page are strings: the types of a browser are not those of this program.
    const [root, faults, outside] = (await page.evaluate(`(() => {
      const { width } = document.documentElement.getBoundingClientRect();
      const isOutside = (text) => { const box = text.getBoundingClientRect(); return box.left < 0 || box.right > width; };
      return [
        document.documentElement.localName,
        document.querySelectorAll("parsererror").length,
        [...document.querySelectorAll("text")].filter(isOutside).map((text) => text.textContent),
      ];
    })()`)) as [string, number, string[]];
    expect({ root, faults, outside }).toEqual({ root: "svg", faults: 0, outside: [] });
    await page.close();
  });

  /** The rows of the recording that can be seen after so many ms. */
  const SEEN = `(at) => {
    for (const animation of document.getAnimations()) { animation.pause(); animation.currentTime = at; }
    const { top, bottom } = document.querySelector("svg svg").getBoundingClientRect();
    return [...document.querySelectorAll("#all text")]
      .filter((text) => getComputedStyle(text).visibility === "visible")
      .filter((text) => { const box = text.getBoundingClientRect(); return box.top >= top - 1 && box.bottom <= bottom + 1; })
      .map((text) => text.textContent);
  }`;

  test("the recording begins with its prompt, and ends with what was shown last", async () => {
    const page = await open("demo.svg", "no-preference");
    const seen = async (at: number) => (await page.evaluate(`(${SEEN})(${at})`)) as string[];
    expect(await seen(0)).toEqual(["$ unity-broker demo"]);
    const length = (await page.evaluate("document.getAnimations()[0].effect.getTiming().duration")) as number;
    const last = await seen(length - 1);
    // The last picture stays for some seconds.
    expect(await seen(length - 6_000)).toEqual(last);
    expect(last.join("\n")).toMatch(/sent 6 times, executed once/);
    await page.close();

    const still = await open("demo.svg", "reduce");
    expect(await still.evaluate("document.getAnimations().length")).toBe(0);
    expect(await still.evaluate(`(${SEEN})(0)`)).toEqual(last);
    await still.close();
  });
});
