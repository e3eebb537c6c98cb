/** What is explored: each scenario lets some things happen, each only so often. */
import { type Bounds, bounds } from "./bounds.js";
import type { Facts } from "./facts.js";
import type { EditorState, State, WorkerState } from "./state.js";
import { stepsOf } from "./steps.js";
import { EMPTY_STORE } from "./store.js";
import type { Rules, SwitchName } from "./switches.js";

export interface Scenario {
  name: string;
  facts: Facts;
  /** What may happen, the prelude included. */
  bounds: Bounds;
  workers: number;
  editors: number;
  /** The steps that are taken first, by how they begin; everything that may follow is explored. */
  prelude: readonly string[];
  /** The rules whose absence must show here. */
  aimedAt: readonly SwitchName[];
  /** What more may happen in the long form. */
  long?: { bounds?: Partial<Bounds>; prelude?: readonly string[] };
}

const FACTS: Facts = {
  tool: "build",
  transport: "http",
  rollback: "old copy",
  acknowledges: false,
  heartbeats: false,
  isStrict: false,
};

interface Told extends Partial<Omit<Scenario, "name" | "bounds" | "facts">> {
  bounds: Partial<Bounds>;
  facts?: Partial<Facts>;
}

const scenario = (name: string, told: Told): Scenario => ({
  name,
  workers: 1,
  editors: 1,
  prelude: [],
  aimedAt: [],
  ...told,
  bounds: bounds(told.bounds),
  facts: { ...FACTS, ...told.facts },
});

/** Request #n makes operation m, for the first time or as the caller then says. */
const made = (request: number, op: number, says = "the caller sends"): string[] => [
  says,
  `#${request} arrives`,
  `the gateway writes op${op}`,
  `the gateway adds the job of op${op}`,
];
const sent = (op: number): string[] => [
  `worker 1 takes the job of op${op}`,
  `worker 1 claims op${op}`,
  `worker 1 submits op${op}`,
];
const begun = (op: number): string[] => [
  ...sent(op),
  `Editor 1 reads worker 1's submit of op${op}`,
  `worker 1 follows op${op}`,
  `Editor 1 begins op${op}`,
];
const ended = (op: number): string[] => [`Editor 1 completes op${op}`, `worker 1 hears the end of op${op}`];
const answered = (request: number, op: number): string[] => [
  `the gateway answers #${request}: op${op}`,
  `the gateway notes that #${request}`,
  "the caller reads",
];
const told = (request: number, op: number): string[] => [
  `the gateway answers #${request}: op${op}`,
  "the caller reads",
];
const named = (request: number, op: number): string[] => [
  `the caller sends #${request}, which names op${op}`,
  `#${request} arrives`,
];
const ran = [...made(1, 1), ...begun(1), ...ended(1)];
const read = [...ran, ...answered(1, 1)];

export const SCENARIOS: readonly Scenario[] = [
  scenario("a retry is not a new wish", {
    bounds: { calls: 2, names: 1, deadAnswers: 1 },
    aimedAt: ["anyMessageConfirms", "olderRequestsCount", "quickHttpAnswersProve"],
    long: { bounds: { calls: 3, newWishes: 1, deadAnswers: 0 } },
  }),
  scenario("a gateway dies at any step", {
    bounds: { calls: 2, gatewayCrashes: 1 },
    long: { bounds: { doubles: 1 } },
  }),
  scenario("a forced run, sent again", {
    bounds: { calls: 3, forces: 1 },
    prelude: read,
    aimedAt: ["noForcedIdentity"],
    long: { bounds: { gatewayCrashes: 1, names: 1 } },
  }),
  scenario("the message that names it is answered into nothing", {
    bounds: { calls: 2, polls: 1, deadAnswers: 1 },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["ownAnswerConfirms"],
    long: { bounds: { polls: 2, sessions: 1 }, prelude: [] },
  }),
  scenario("over stdio a client gives up without a word", {
    bounds: { calls: 2, delays: 1 },
    facts: { transport: "stdio" },
    aimedAt: ["slowAnswersProve", "measuredFromReading"],
    long: { bounds: { calls: 3, cancels: 1, newWishes: 1 } },
  }),
  scenario("over stdio a quick answer is lost with its process", {
    bounds: { calls: 2, sessions: 1 },
    facts: { transport: "stdio" },
    aimedAt: ["proofOutlivesGateway"],
    long: { bounds: { calls: 3, newWishes: 1, delays: 1 } },
  }),
  scenario("over stdio an answer is given up, and the store goes back behind that", {
    bounds: { calls: 2, cancels: 1, copies: 1, rollbacks: 1 },
    facts: { transport: "stdio" },
    prelude: ran,
    aimedAt: ["oldProofsCount"],
    long: { bounds: { sessions: 1 } },
  }),
  scenario("somebody else is told, and an hour passes", {
    bounds: { calls: 3, others: 1, hours: 1 },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["askersForgotten"],
    long: { bounds: { sessions: 1 } },
  }),
  scenario("two callers, two Editors", {
    bounds: { calls: 3, others: 1, hours: 1 },
    editors: 2,
    workers: 2,
    prelude: [
      ...ran,
      "Editor 2 starts",
      "worker 2 takes",
      "worker 2 says hello",
      "the caller is not alone",
      "the caller gives #1 up and sends the call again as #3",
      "the gateway sees that nobody waits for #1",
    ],
    aimedAt: ["newestOfAllOnly", "anyEditorsRunAnswers"],
    long: { bounds: { deadAnswers: 1 } },
  }),
  scenario("tests, told and run again (HTTP)", {
    bounds: { calls: 3, newWishes: 1, gatewayCrashes: 1 },
    facts: { tool: "run-tests" },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["repeatableReplaysTold", "toldAfterWriting"],
    long: { bounds: { deadAnswers: 1 }, prelude: [] },
  }),
  scenario("edit, compile, run-tests (HTTP, the same session)", {
    bounds: { calls: 3, newWishes: 1, mutations: 1 },
    facts: { tool: "run-tests" },
    prelude: ran,
    long: { bounds: { polls: 1 }, prelude: [...made(1, 1), ...begun(1)] },
  }),
  scenario("edit, compile, run-tests (HTTP, another session)", {
    bounds: { calls: 2, newWishes: 1, mutations: 1, sessions: 1, polls: 1 },
    facts: { tool: "run-tests" },
    prelude: [...made(1, 1), ...begun(1)],
    long: { bounds: { calls: 3 } },
  }),
  scenario("edit, compile, run-tests (stdio, quick, slow and polled)", {
    bounds: { calls: 2, newWishes: 1, mutations: 1, delays: 1, polls: 1 },
    facts: { tool: "run-tests", transport: "stdio" },
    prelude: [...made(1, 1), ...begun(1)],
    long: { bounds: { calls: 3, cancels: 1 } },
  }),
  scenario("a compilation, its own reload, and its retry", {
    bounds: { calls: 2, newWishes: 1 },
    facts: { tool: "compile" },
    long: { bounds: { calls: 3, sessions: 1, mutations: 1 } },
  }),
  scenario("unread, and meant anew when assets have changed", {
    bounds: { calls: 2, newWishes: 1, edits: 1, sessions: 1 },
    facts: { tool: "run-tests" },
    prelude: ran,
    aimedAt: ["marksIgnored"],
    long: { bounds: { calls: 3, mutations: 1 }, prelude: [] },
  }),
  scenario("the store is flushed between two runs of the tests", {
    bounds: { calls: 2, newWishes: 1, rollbacks: 1, cuts: 1 },
    facts: { tool: "run-tests" },
    prelude: [...ran, "the gateway notes that it answers #1", ...told(1, 1), "the store is flushed"],
    aimedAt: ["lostOutcomesAreFresh", "restoredAnswers"],
    long: { bounds: { calls: 3, sessions: 1 } },
  }),
  scenario("an hour with the lid closed", {
    bounds: { calls: 2, hours: 1 },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["windowFromTheEnd"],
    long: { bounds: { names: 1, gatewayCrashes: 1 }, prelude: [] },
  }),
  scenario("repeating what was interrupted", {
    bounds: { calls: 2, newWishes: 1, names: 1, editorCrashes: 1 },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["interruptedMayRepeat"],
    long: { bounds: { forces: 1 } },
  }),
  scenario("set A, set B, set A", {
    bounds: { calls: 2, newWishes: 1, mutations: 1 },
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
  scenario("jobs added by hand", {
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
    bounds: { calls: 3, newWishes: 1, forces: 1, names: 1, expiries: 1, cuts: 1, restarts: 1 },
    prelude: [
      ...read,
      ...named(2, 1),
      "the connection of worker 1 breaks",
      ...made(3, 2, "the caller means"),
    ],
    aimedAt: ["nothingEnteredBefore", "forcedTakesOld"],
    long: { prelude: [...read, ...named(2, 1), "the connection of worker 1 breaks"] },
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
    bounds: { calls: 3, names: 1, newWishes: 1, expiries: 1, editorCrashes: 1, cuts: 2 },
    prelude: [
      ...read,
      ...named(2, 1),
      "the connection of worker 1 breaks",
      ...made(3, 2, "the caller means"),
      "the Editor is away for long: op2",
      "the gateway answers #3",
      "the gateway notes",
      "the caller reads that op2",
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
];

/** What is not defended, or not yet: these find a violation with every rule on. docs/model.md says why each stays. */
export const KNOWN: readonly Scenario[] = [
  scenario("the store alone loses its last seconds", {
    bounds: { copies: 1, rollbacks: 1, forgets: 1 },
    facts: { rollback: "last seconds", acknowledges: true },
    prelude: [...made(1, 1), ...begun(1)],
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

/** Every Editor is up, the first one's owner is connected, and nobody has called anything; then the prelude. */
export function startOf(scenario: Scenario, rules: Rules): State {
  return scenario.prelude.reduce((state, says) => {
    const step = stepsOf(state, scenario.facts, rules).find((one) => one.says.startsWith(says));
    if (!step) throw new Error(`"${scenario.name}": nothing begins with "${says}"`);
    return step.to;
  }, beginning(scenario));
}

function beginning({ bounds: left, workers, editors }: Scenario): State {
  return {
    hour: 0,
    caller: {
      session: 1,
      lastId: 0,
      changes: 0,
      wishes: [{ isOthers: false, force: null, over: false, logId: null, changes: 0, mutations: 0 }],
      replies: [],
    },
    requests: [],
    store: {
      ...EMPTY_STORE,
      imported: { [EDITOR]: EMPTY_STORE.incarnation },
      marks: { [EDITOR]: MARK },
      leases: { [EDITOR]: OWNER },
      epochs: { [EDITOR]: 1 },
      ledgers: { [EDITOR]: SEEN },
    },
    version: 0,
    copy: null,
    copyVersion: 0,
    workers: Array.from({ length: workers }, (_, at) => workerAt(at, editors)),
    frames: [],
    editors: Array.from({ length: editors }, (_, at) => editorAt(at)),
    ledgerCopy: null,
    history: {
      made: [],
      begun: [],
      toldAt: {},
      told: [],
      isShaken: false,
      incarnations: 1,
      storeWentBack: false,
      ledgerWentBack: false,
      fault: null,
    },
    left,
  };
}

const EDITOR = "Editor 1";
const OWNER = "worker 1.1";
const SEEN = { ledgerId: "ledger 1", editorSessionId: "s1", ledgerSeq: 1 };
const MARK = { editorSessionId: "s1", generation: 0, assetCounter: 0 };
const FENCE = { epoch: 1, ownerNonce: OWNER };

const workerAt = (at: number, editors: number): WorkerState => ({
  name: `worker ${at + 1}`,
  life: at === 0 ? 1 : 0,
  // One of its own for each Editor.
  editor: `Editor ${(at % editors) + 1}`,
  fence: at === 0 ? FENCE : null,
  link: at === 0 ? { connection: 1, session: 1, ledgerId: "ledger 1" } : null,
  connections: at === 0 ? 1 : 0,
  importedIn: at === 0 ? EMPTY_STORE.incarnation : null,
  works: [],
  acks: [],
});

const editorAt = (at: number): EditorState => ({
  id: `Editor ${at + 1}`,
  // Another one appears later.
  up: at === 0,
  session: at === 0 ? 1 : 0,
  generation: 0,
  assets: 0,
  reloads: false,
  ledger: {
    ledgerId: `ledger ${at + 1}`,
    seq: 1,
    fence: at === 0 ? FENCE : null,
    session: 1,
    previous: null,
    entries: [],
  },
  seat: at === 0 ? { worker: "worker 1", life: 1, connection: 1 } : null,
});
