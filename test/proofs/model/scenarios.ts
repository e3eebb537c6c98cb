/** What is explored: each scenario lets some things happen, each only so often. */
import { DELIVERY } from "./delivery.js";
import { EVERYDAY } from "./everyday.js";
import { POOLS } from "./pools.js";
import { answered, begun, ended, made, named, ran, read, type Scenario, scenario, sent } from "./scenario.js";

export const SCENARIOS: readonly Scenario[] = [
  ...DELIVERY,
  ...EVERYDAY,
  scenario("repeating what was interrupted", {
    bounds: { calls: 2, newIntents: 1, names: 1, editorCrashes: 1 },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["interruptedMayRepeat"],
    long: { bounds: { forces: 1 } },
  }),
  scenario("set A, set B, set A", {
    bounds: { calls: 2, newIntents: 1, mutations: 1 },
    facts: { tool: "set" },
    prelude: made(1, 1),
    aimedAt: ["alwaysJoins"],
    long: { prelude: [] },
  }),
  scenario("another Editor appears", {
    bounds: { calls: 2, editorCrashes: 1 },
    editors: 2,
    workers: 2,
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["targetFirst"],
    long: { prelude: [] },
  }),
  scenario("jobs added manually", {
    bounds: { handJobs: 1 },
    aimedAt: ["noClaimChecks"],
    long: { bounds: { handJobs: 2, workerCrashes: 1 } },
  }),
  scenario("it expires while its Editor is away", {
    bounds: { calls: 2, expiries: 1, editorCrashes: 1 },
    aimedAt: ["jobIdsReused"],
    long: { bounds: { workerCrashes: 1 } },
  }),
  scenario("the next one expires while its Editor is away", {
    bounds: { calls: 3, newIntents: 1, forces: 1, names: 1, expiries: 1, cuts: 1 },
    prelude: [
      ...read,
      ...named(2, 1),
      "the connection of worker 1 breaks",
      ...made(3, 2, "the caller means"),
    ],
    long: { prelude: [...read, ...named(2, 1), "the connection of worker 1 breaks"] },
  }),
  scenario("a forced run of what another caller is owed, while its Editor is away", {
    bounds: { calls: 4, others: 1, newIntents: 1, forces: 1, sessions: 1, expiries: 1, cuts: 1 },
    prelude: [
      ...made(1, 1),
      ...begun(1),
      "the caller is not alone",
      "#2 arrives and joins",
      ...ended(1),
      ...answered(1, 1),
      "the connection of worker 1 breaks",
      ...made(3, 2, "the caller means"),
      "the Editor is away for long: op2",
    ],
    aimedAt: ["forcedTakesOld"],
  }),
  scenario("the store is started again before the next one is sent", {
    bounds: { calls: 3, newIntents: 1, names: 1, expiries: 1, cuts: 1, restarts: 1 },
    prelude: [
      ...read,
      ...named(2, 1),
      "the connection of worker 1 breaks",
      ...made(3, 2, "the caller means"),
      "the Editor is away for long: op2",
      "the gateway answers #3",
      "the gateway notes",
    ],
    long: { bounds: { calls: 4, forces: 1 } },
  }),
  scenario("owners hang and lose frames", {
    bounds: { hangs: 1, cuts: 1 },
    workers: 2,
    prelude: made(1, 1),
    aimedAt: ["noFence"],
    long: { bounds: { workerCrashes: 1 } },
  }),
  scenario("an owner dies, its Editor crashes", {
    bounds: { workerCrashes: 1, editorCrashes: 1 },
    prelude: made(1, 1),
    workers: 2,
    long: { bounds: { cuts: 1 } },
  }),
  scenario("the Editor restarts between two questions", {
    bounds: { calls: 3, names: 1, newIntents: 1, expiries: 1, editorCrashes: 1, cuts: 2 },
    prelude: [
      ...read,
      ...named(2, 1),
      "the connection of worker 1 breaks",
      ...made(3, 2, "the caller means"),
      "the Editor is away for long: op2",
      "the gateway answers #3",
      "the gateway notes",
      "worker 1 says hello",
      ...made(4, 3),
      ...sent(3),
    ],
    aimedAt: ["noRevoke", "unknownNeverStarted"],
    long: { bounds: { editorCrashes: 2 } },
  }),
  scenario("a domain reload, and lost frames", {
    bounds: { cuts: 1, reloads: 1 },
    prelude: made(1, 1),
    long: { bounds: { cuts: 2, workerCrashes: 1 } },
  }),
  scenario("the store is flushed, the call is sent again", {
    bounds: { calls: 2, rollbacks: 1 },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["afterAtSending", "knownIsOlder", "silentAttachment"],
    long: { bounds: { copies: 1 } },
  }),
  scenario("the store is flushed, and what is sent again expires", {
    bounds: { calls: 3, rollbacks: 1, expiries: 1, cuts: 1 },
    prelude: [
      ...ran,
      "the connection of worker 1 breaks",
      "the store is flushed",
      ...made(2, 2, "the caller gives #1 up"),
    ],
  }),
  scenario("the store forgets a forced run", {
    bounds: { calls: 3, forces: 1, copies: 1, rollbacks: 1 },
    prelude: [...read, "the store is saved", ...made(2, 2, "the caller calls with force_new"), ...begun(2)],
    aimedAt: ["forcedSubmitsAgain"],
    long: { bounds: { cuts: 1 } },
  }),
  scenario("the store is flushed behind a forced run, whose elder is long gone", {
    bounds: { calls: 4, forces: 1, rollbacks: 1, retires: 1 },
    prelude: [
      ...read,
      ...made(2, 2, "the caller calls with force_new"),
      ...begun(2),
      ...ended(2),
      "the retention of op1 ends",
      "the store is flushed",
    ],
    aimedAt: ["refusalShowsNothing"],
    long: { bounds: { cuts: 1 } },
  }),
  scenario("the store is flushed, and the Editor is lost behind its answer", {
    bounds: { calls: 3, rollbacks: 1, expiries: 1, cuts: 1 },
    prelude: [
      ...ran,
      "the store is flushed",
      ...made(2, 2, "the caller gives #1 up"),
      "worker 1 learns",
      "worker 1 takes the lease",
      "worker 1 is FENCED",
      "worker 1 says hello",
      ...sent(2),
    ],
    long: { bounds: { workerCrashes: 1 } },
  }),
  scenario("the store goes back behind a forced run of what was revoked", {
    bounds: { calls: 3, forces: 1, copies: 1, rollbacks: 1, cuts: 1, editorCrashes: 1 },
    prelude: [
      ...made(1, 1),
      ...sent(1),
      "the connection of worker 1 breaks; what it sent is lost",
      "Editor 1 crashes",
      "Editor 1 starts",
      "worker 1 says hello",
      "worker 1 adopts op1",
      "worker 1 asks to get op1",
      "Editor 1 reads worker 1's get",
      "worker 1 wants op1 revoked",
      "worker 1 asks to revoke op1",
      "Editor 1 reads worker 1's revoke",
      "worker 1 calls the outcome unknown",
      ...answered(1, 1),
      "the store is saved",
    ],
    aimedAt: ["onlyWhatIsLater"],
  }),
  scenario("the epoch goes back", {
    bounds: { copies: 1, rollbacks: 1, workerCrashes: 1 },
    workers: 2,
    prelude: [...made(1, 1), "the store is saved", "worker 1 crashes"],
    aimedAt: ["noRaise", "nonceIgnored"],
    long: { prelude: made(1, 1) },
  }),
  scenario("the store loses its last seconds with its machine", {
    bounds: { copies: 1, rollbacks: 1, forgets: 1 },
    facts: { rollback: "power loss", acknowledges: true },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["acknowledgedAtOnce"],
    long: { bounds: { workerCrashes: 1 } },
  }),
  scenario("a copy of the ledger is put back", {
    bounds: { ledgerCopies: 1, ledgerRollbacks: 1, editorCrashes: 1 },
    facts: { heartbeats: true },
    prelude: made(1, 1),
    aimedAt: ["sentInIgnored", "lossUnnoticed"],
    long: { bounds: { editorCrashes: 2, workerCrashes: 1 } },
  }),
  scenario("the ledger is deleted", {
    bounds: { ledgerLosses: 1, editorCrashes: 1, cuts: 1 },
    prelude: made(1, 1),
    long: { bounds: { editorCrashes: 2 } },
  }),
  ...POOLS,
];

/** What is not defended, or not yet: these find a violation with every rule on. docs/proofs/model.md says why each stays. */
export const KNOWN: readonly Scenario[] = [
  scenario("the store alone loses its last seconds", {
    bounds: { copies: 1, rollbacks: 1, forgets: 1 },
    facts: { rollback: "last seconds", acknowledges: true },
    prelude: [...made(1, 1), ...begun(1)],
  }),
  scenario("the connection is reset behind the answer, and the gateway dies before it has noted that", {
    bounds: { calls: 2, resets: 1, gatewayCrashes: 1 },
    prelude: ran,
  }),
  scenario("it asked in a session that is gone, another caller gets the outcome, and an hour passes", {
    bounds: { calls: 3, others: 1, hours: 1, sessions: 1 },
    prelude: [
      ...made(1, 1),
      ...begun(1),
      "Editor 1 completes op1",
      "worker 1 hears the end of op1",
      "the caller goes on in another session",
    ],
  }),
  scenario("the store forgets that it was sent, and it expires", {
    bounds: { copies: 1, rollbacks: 1, expiries: 1, cuts: 1 },
    facts: { isStrict: true },
    prelude: [...made(1, 1), "the store is saved"],
  }),
  scenario("a copy of the ledger from between accepted and running", {
    bounds: { ledgerCopies: 1, ledgerRollbacks: 1, editorCrashes: 1 },
    facts: { isStrict: true },
    prelude: made(1, 1),
  }),
];

/** The scenario as it is explored by `npm run model`. */
export function longForm(short: Scenario): Scenario {
  const { long = {} } = short;
  return { ...short, bounds: { ...short.bounds, ...long.bounds }, prelude: long.prelude ?? short.prelude };
}
