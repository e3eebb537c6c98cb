/** Two processes of one project: the ledger stays with the one that has it, also while that one reloads its domain. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { editorHostFile } from "../../../src/editor-host/editor-host.js";
import { type HostProcess, startHost } from "../../../src/editor-host/host-process.js";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { eventually } from "../../harness/eventually.js";

const started: HostProcess[] = [];
let folder: string;
let program: string;
beforeAll(async () => {
  if (hasDotnet) program = await editorHostFile(() => undefined);
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((host) => host.kill()));
  await rm(folder, { recursive: true, force: true });
});

/** Each process of the project stays where its bridge cannot start, as an Editor does. */
async function processOfTheProject(): Promise<HostProcess> {
  const host = await startHost(program, [
    ...["--project", join(folder, "Project"), "--state-folder", join(folder, "state"), "--port", "0"],
    "--stays",
  ]);
  started.push(host);
  return host;
}

const isListening = async (host: HostProcess): Promise<boolean> =>
  (await host.ask({ do: "status" })).listening === true;

test.skipIf(!hasDotnet)(
  "▲10 a second process of a project never gets the first one's ledger",
  async () => {
    folder = await mkdtemp(join(tmpdir(), "ujb-second-"));
    const first = await processOfTheProject();
    const second = await processOfTheProject();
    expect(await isListening(first)).toBe(true);
    expect(await second.ask({ do: "status" })).toMatchObject({
      listening: false,
      lastError: expect.stringContaining(`process ${first.pid} `),
    });

    // Nobody holds the ledger during the reload; the second process ticks on, is asked to start, reloads.
    let isOver = false;
    const reloaded = first.ask({ do: "reload", downMs: 3000 }).finally(() => {
      isOver = true;
    });
    const late = processOfTheProject();
    const seen = new Set<boolean>();
    await second.ask({ do: "reload", downMs: 0 });
    while (!isOver) {
      await second.ask({ do: "start" });
      seen.add(await isListening(second));
    }
    await reloaded;
    expect([...seen]).toEqual([false]);
    expect(await isListening(await late)).toBe(false);
    await eventually(() => isListening(first), "the first process has its ledger again");

    // It is free once the first has quit; then a person may start the bridge of the second.
    await first.quit();
    started.splice(started.indexOf(first), 1);
    expect(await isListening(second)).toBe(false);
    await second.ask({ do: "start" });
    expect(await isListening(second)).toBe(true);
  },
  60_000,
);

test.skipIf(!hasDotnet)(
  "▲10 a process that finds the ledger in use does not try again by itself",
  async () => {
    folder = await mkdtemp(join(tmpdir(), "ujb-second-"));
    const first = await processOfTheProject();
    const second = await processOfTheProject();
    // A person learns what to do, also after a reload of scripts.
    const staysOff =
      /stays off, also once that one has ended: close that one, then click Start in Window > Unity Job Broker\.$/;
    expect((await second.ask({ do: "status" })).lastError).toMatch(staysOff);
    await second.ask({ do: "reload", downMs: 0 });
    expect((await second.ask({ do: "status" })).lastError).toMatch(staysOff);
    await first.kill();
    started.splice(started.indexOf(first), 1);
    const third = await processOfTheProject();
    expect(await isListening(third)).toBe(true);
    await third.ask({ do: "reload", downMs: 2500 });
    expect(await isListening(second)).toBe(false);
    expect(await isListening(third)).toBe(true);
  },
  60_000,
);
