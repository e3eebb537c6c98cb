/** A pool of two Editors (▲13): schedules H, I and J. */
import { made, type Scenario, scenario } from "./scenario.js";

const TWO = { editors: 2, workers: 2, facts: { isPool: true } } as const;

/** The second Editor is there as well. */
const BOTH = ["Editor 2 starts", "worker 2 takes the lease", "worker 2 says hello"];

/** An operation of the pool, in an Editor's socket. */
const sentTo = (editor: 1 | 2): string[] => [
  `Editor ${editor} takes op1`,
  `worker ${editor} takes the job of op1`,
  `worker ${editor} claims op1`,
  `worker ${editor} submits op1`,
];

/** The Editor is lost with what it was sent, and its successor is told never to run it. */
const revokedBy = (editor: 1 | 2, session: number): string[] => [
  `Editor ${editor} crashes`,
  `worker ${editor} notices`,
  `Editor ${editor} starts, session ${session}`,
  `worker ${editor} says hello`,
  `worker ${editor} adopts op1`,
  `worker ${editor} asks to get op1`,
  `Editor ${editor} reads worker ${editor}'s get`,
  `worker ${editor} wants op1 revoked`,
  `worker ${editor} asks to revoke op1`,
  `Editor ${editor} reads worker ${editor}'s revoke`,
];

export const POOLS: readonly Scenario[] = [
  scenario("a pool of two Editors", {
    ...TWO,
    bounds: { calls: 2, editorCrashes: 1, pauses: 1 },
    prelude: [...BOTH, ...made(1, 1)],
    long: { bounds: { newIntents: 1, workerCrashes: 1 } },
  }),
  scenario("the store goes back behind what a pool's Editor was sent", {
    ...TWO,
    bounds: { copies: 1, rollbacks: 1, cuts: 1 },
    prelude: [...BOTH, ...made(1, 1), "the store is saved", ...sentTo(1)],
    aimedAt: ["poolsForgetLosses", "epochKept"],
    long: { bounds: { calls: 2, editorCrashes: 1, workerCrashes: 1 } },
  }),
  scenario("a pool's Editor was told never to run it", {
    ...TWO,
    bounds: { editorCrashes: 2 },
    prelude: [...BOTH, ...made(1, 1), ...sentTo(1), ...revokedBy(1, 2)],
    aimedAt: ["revokedGoesBack"],
    long: { bounds: { calls: 2 } },
  }),
  scenario("a pool's owner dies, and its frame is still in the Editor's buffer", {
    ...TWO,
    bounds: { workerCrashes: 1 },
    prelude: [...BOTH, ...made(1, 1), ...sentTo(1)],
    aimedAt: ["sentGoesBack"],
    long: { bounds: { calls: 2, editorCrashes: 1, cuts: 1 } },
  }),
];
