/**
 * `npm run mono`: all tests of Core on Debian's Mono, with real reloads of AppDomains.
 *
 * Exit code 0: all passed, or Mono could not be obtained, which is said; 1: a test failed.
 */
import { runCoreOnMono } from "./core-on-mono.js";

const startedAt = performance.now();
const result = await runCoreOnMono([], (text) => console.log(text));
if ("missing" in result) {
  console.log(`SKIPPED: there is no Mono (${result.missing}).`);
} else {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(`\n${result.version}`);
  for (const line of result.domains) console.log(line);
  console.log(`${result.total - result.failures.length} of ${result.total} tests passed, in ${seconds} s.`);
  process.exitCode = result.failures.length === 0 ? 0 : 1;
}
