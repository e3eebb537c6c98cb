/**
 * The C# bridge in its host process, under the same scenarios as the simulator: real processes, real clients, a real
 * Redis, and the Editor's own account of what it began.
 */
import { afterAll, describe, it } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { createWorlds } from "../../proofs/engine/worlds.js";
import { playScenario } from "../../proofs/never-twice/scenarios/scenario.js";
import { SCENARIOS } from "../../proofs/never-twice/scenarios/scenarios.js";
import { STORIES } from "../../proofs/never-twice/scenarios/stories.js";

const worlds = createWorlds(3, { engine: "dotnet" });

afterAll(async () => {
  await worlds.close();
  await expectNoLeak();
}, 60_000);

describe("never twice, with the C# bridge", { concurrent: true, skip: !hasDotnet }, () => {
  for (const scenario of [...SCENARIOS, ...STORIES]) {
    it(scenario.name, () => worlds.lend((world) => playScenario(scenario, 1, world)), 180_000);
  }
});
