import { chmodSync, mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editorHostFile, missingSdk } from "../../src/editor-host/editor-host.js";
import { whyNotRestored } from "./editor/dotnet.js";
import { redisHere } from "./redis/redis.js";
import { containerEngineAnswers } from "./redis/redis-container.js";

/** Tests read it by `hasDotnet` (dotnet.ts). */
async function buildTheCSharpSide(): Promise<void> {
  const missing = (await missingSdk()) ?? (await whyNotBuilt());
  if (missing === undefined) process.env.UJB_TEST_DOTNET = "1";
  else if (process.env.CI) throw new Error(`${missing} On CI the C# tests may not be left out.`);
  else console.log(`\nThe C# tests are SKIPPED. ${missing}\n`);
}

async function whyNotBuilt(): Promise<string | undefined> {
  try {
    await editorHostFile((message) => console.log(message));
    return undefined;
  } catch (error) {
    const why = whyNotRestored((error as Error).message);
    if (why === undefined) throw error;
    return why;
  }
}

/** The least that a folder of the tests must have free, bytes. */
const ROOM = 2 * 1024 ** 3;

/**
 * One folder for everything that this run writes, removed at its end. It lies in memory where the platform offers that:
 * the tests' Redis flushes every write, and no test cuts the power. Another user of this machine, who plays in some
 * tests, may enter it.
 */
function useTemporaryFolder(): () => void {
  const folder = mkdtempSync(
    join(process.env.TMPDIR ?? [...candidates(), tmpdir()][0] ?? tmpdir(), "ujb-run-"),
  );
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function candidates(): string[] {
  if (process.platform !== "linux") return [];
  return ["/dev/shm", "/tmp", "/var/tmp"].filter((folder) => {
    const isOpen = ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o003) === 0o003;
    if (!isOpen) return false;
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM;
  });
}

/**
 * Looks once, before parallel test files would all look, for a container engine, the Redis binary and the .NET SDK.
 *
 * The binary is needed in either case, since the embedded server has tests of its own. Each test server ends with the
 * process that started it (see `redis.ts`).
 */
export default async function setup(): Promise<() => void> {
  // First: the compiler's server outlives this run, and so must its temporary folder.
  await buildTheCSharpSide();
  const removeTemporaryFolder = useTemporaryFolder();
  const binary = await redisHere();
  const store = (await containerEngineAnswers()) ? "containers" : `${binary.file} ${binary.version}`;
  console.log(`Tests use Redis from ${store}.`);
  return removeTemporaryFolder;
}
