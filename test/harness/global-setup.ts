import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { editorHostFile, missingSdk } from "../../src/editor-host/host-build.js";
import { findRedisBinary } from "../../src/embedded-redis/binary.js";
import { defaultDirectories } from "../../src/embedded-redis/directories.js";
import { containerEngineAnswers } from "./redis-container.js";

/** Tests read it by `hasDotnet` (dotnet.ts). */
async function buildTheCSharpSide(): Promise<void> {
  const missing = await missingSdk();
  if (missing === undefined) {
    await editorHostFile((message) => console.log(message));
    process.env.UJB_TEST_DOTNET = "1";
    return;
  }
  if (process.env.CI) throw new Error(`${missing} On CI the C# tests may not be left out.`);
  console.log(`\nThe C# tests are SKIPPED. ${missing}\n`);
}

/** Some tests are played by another user of this machine, who must get as far as to the test's folder. */
function useTemporaryFolderThatIsOpenToOthers(): void {
  const isOpen = (folder: string): boolean =>
    ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o001) !== 0;
  const shared = "/var/tmp";
  if (process.platform !== "linux" || isOpen(tmpdir()) || !isOpen(shared)) return;
  console.log(`${tmpdir()} is closed to other users: the tests' folders are in ${shared}.`);
  process.env.TMPDIR = shared;
}

/**
 * Looks once, before parallel test files would all look, for a container engine, the Redis binary and the .NET SDK.
 *
 * The binary is needed in either case, since the embedded server has tests of its own. There is no teardown: each
 * test server ends with the process that started it (see `redis.ts`).
 */
export default async function setup(): Promise<void> {
  useTemporaryFolderThatIsOpenToOthers();
  const { cacheDir } = defaultDirectories(process.env);
  const binary = await findRedisBinary({
    cacheDir,
    env: process.env,
    say: (message) => console.log(message),
  });
  const store = (await containerEngineAnswers()) ? "containers" : `${binary.file} ${binary.version}`;
  console.log(`Tests use Redis from ${store}.`);
  await buildTheCSharpSide();
}
