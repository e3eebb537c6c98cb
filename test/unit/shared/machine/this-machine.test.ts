/** The machine part of Editor ids outlives the host's name. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { thisMachine } from "../../../../src/shared/machine/this-machine.js";

let home: string;
let state: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ujb-machine-"));
  state = join(home, ".unity-job-broker");
});
afterEach(() => rmSync(home, { recursive: true }));

test("the first host name stays, in a file for this user alone", () => {
  expect(thisMachine(state, "mac.local")).toBe("mac.local");
  expect(thisMachine(state, "mac.office.example")).toBe("mac.local");
  expect(readdirSync(state)).toEqual(["machine"]);
  expect(statSync(join(state, "machine")).mode & 0o077).toBe(0);
  expect(statSync(state).mode & 0o077).toBe(0);
});

test("where it can be neither read nor made, the host's name counts", () => {
  writeFileSync(state, "a file in place of the folder");
  expect(thisMachine(state, "mac.local")).toBe("mac.local");
});
