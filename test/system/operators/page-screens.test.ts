/** docs/guide: the pictures of the operators' page and of `watch`, renewed by UNITY_BROKER_TEST_SCREENSHOTS=1. */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { queueName } from "../../../src/shared/store/keys.js";
import { chromiumHere, DESK, expectClean, PHONE, usePages } from "../../harness/operators/pages.js";
import { BENCH_NAMES, stage } from "../../harness/operators/staged.js";
import { environment } from "../../harness/processes/installation.js";
import { createBench } from "../../harness/system/bench.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";
import { drawScreen, lastScreen } from "../../recording/screen.js";

const FOLDER =
  process.env.UNITY_BROKER_TEST_SCREENSHOTS_FOLDER ??
  fileURLToPath(new URL("../../../docs/guide/operators/", import.meta.url));
const isWanted = process.env.UNITY_BROKER_TEST_SCREENSHOTS !== undefined;
const LARGEST = 150_000;

const { start } = useSystem();
const { open } = useTokenGateway(start);

describe.skipIf(!isWanted || "missing" in chromiumHere)("the pictures", () => {
  const pages = usePages();

  /** `height`: only so much of the page, px. */
  const shoot = async (page: Page, name: string, height?: number): Promise<void> => {
    mkdirSync(FOLDER, { recursive: true });
    const path = `${FOLDER}/${name}.png`;
    const { width = 0, height: whole = 0 } = page.viewportSize() ?? {};
    await page.screenshot({ path, clip: { x: 0, y: 0, width, height: height ?? whole } });
    expect(statSync(path).size, name).toBeLessThan(LARGEST);
  };

  test("are taken of a page at work", async () => {
    const bench = createBench();
    const names = {
      work: "build-android",
      cancellable: "run-playmode-tests",
      look: "read-scene",
      put: "import-assets",
    };
    const known = new Map(
      Object.entries(BENCH_NAMES).map(([role, name]) => [name, names[role as keyof typeof names]]),
    );
    const tools = bench.tools.map((tool) => ({
      ...tool,
      name: known.get(tool.name) ?? `other-${tool.name}`,
    }));
    const served = await open({}, { editor: { projectPath: "/projects/island-game", tools } });
    const projects = ["racing", "museum-tour", "shop-floor"];
    const { token, sixTimes, running, editors } = await stage(served, projects, { bench, names });
    await editors[2]?.close();
    const opened = await pages.logIn(served.origin, token);
    const { page } = opened;
    await page.getByText("PlayMode tests").first().waitFor();
    await shoot(page, "editors", 380);
    await page.goto(`${served.origin}/operators/operations`);
    await page.getByText("6 → 1").waitFor();
    await shoot(page, "operations", 610);
    await page.goto(`${served.origin}/operators/operations/${sixTimes}`);
    await page.getByText("One execution").waitFor();
    await shoot(page, "waterfall");
    await page.emulateMedia({ colorScheme: "dark" });
    await shoot(page, "waterfall-dark");
    await page.goto(`${served.origin}/operators/operations/${running}`);
    await page.getByText("What happened").waitFor();
    await shoot(page, "running-dark");
    await page.setViewportSize(PHONE);
    await page.goto(`${served.origin}/operators/operations/${sixTimes}`);
    await page.getByText("One execution").waitFor();
    await shoot(page, "phone-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(`${served.origin}/operators/operations`);
    await page.getByText("6 → 1").waitFor();
    await shoot(page, "phone");
    expectClean(opened);
    await page.setViewportSize(DESK);
    await page.goto(`${served.origin}/api/v1/docs/`);
    await page.getByText("/api/v1/operations/{id}/history").waitFor();
    await shoot(page, "api");

    const folder = mkdtempSync(join(tmpdir(), "ujb-screen-"));
    const env = environment(folder, { UNITY_BROKER_URL: served.url, UNITY_BROKER_TOKEN: token });
    const size = { columns: 100, rows: 24 };
    const screen = await lastScreen(["watch"], size, env, (drawn) => drawn.includes("PlayMode tests"));
    writeFileSync(`${FOLDER}/watch.svg`, drawScreen("unity-broker watch", screen, size.columns));
    rmSync(folder, { recursive: true, force: true });
    const queue = queueName(served.system.editor.editorId, "main");
    await page.goto(`${served.origin}/dashboard/queue/${encodeURIComponent(queue)}?status=latest`);
    await page.getByText("42%").first().waitFor();
    await shoot(page, "../dashboard");
    bench.finish("tests");
  });
});
