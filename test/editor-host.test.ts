/**
 * The C# bridge in its host process, under the same scenarios as the simulator: real processes, real clients, a real
 * Redis, and the Editor's own account of what it began.
 */
import { afterAll, describe, it } from "vitest";
import { hasDotnet } from "./harness/dotnet.js";
import { expectNoLeak } from "./harness/leaks.js";
import { playScenario } from "./never-twice/scenario.js";
import { SCENARIOS } from "./never-twice/scenarios.js";
import { STORIES } from "./never-twice/stories.js";
import { createWorlds } from "./never-twice/worlds.js";

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
