/** What is left in the folder of a lock. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { alone } from "../../../../src/shared/machine/start-claim.js";

test("a file that names no process holds up nobody", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ujb-claim-"));
  try {
    for (const name of ["starting", "starting.", "starting.99999999", "starting.x.y.z"])
      writeFileSync(join(folder, name), "");
    const options = { timeoutMs: 50, meanwhile: async () => undefined, tooLong: () => new Error("held up") };
    await expect(alone(folder, options, async () => "done")).resolves.toBe("done");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
