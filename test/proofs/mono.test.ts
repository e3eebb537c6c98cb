/** `npm run mono` runs all tests of Core on Mono; here are those of what Mono does differently: files, sockets, domains. */
import { expect, test } from "vitest";
import { hasDotnet } from "../harness/editor/dotnet.js";
import { runCoreOnMono } from "./mono/core-on-mono.js";

const TELLING = ["Endpoint", "Ledger", "Push", "Reloads", "Session", "Wire"];
const RELOADS = 4;

test("Core runs on Mono, over four domain reloads", {
  skip: !hasDotnet,
  timeout: 15 * 60_000,
}, async (context) => {
  const result = await runCoreOnMono(TELLING);
  if ("missing" in result) {
    console.log(`Core on Mono is SKIPPED: ${result.missing}`);
    return context.skip();
  }
  console.log([result.version, `${result.total} tests`, ...result.domains].join("\n"));
  expect(result.failures).toEqual([]);
  expect(result.domains).toHaveLength(RELOADS + 1);
  expect(result.total).toBeGreaterThan(150);
});
