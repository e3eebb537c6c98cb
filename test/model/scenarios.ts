/** What is explored: each scenario lets some things happen, each only so often. */
import { type Bounds, bounds } from "./bounds.js";
import type { Facts } from "./facts.js";
import type { EditorState, State, WorkerState } from "./state.js";
import { EMPTY_STORE } from "./store.js";
import type { SwitchName } from "./switches.js";

export interface Scenario {
  name: string;
  facts: Facts;
  bounds: Bounds;
  workers: number;
  editors: number;
  /** The rules whose absence must show here. */
  aimedAt: readonly SwitchName[];
}

const FACTS: Facts = { effect: "mutating", rollback: "old copy", acknowledges: false };

const scenario = (
  name: string,
  some: Partial<Bounds>,
  aimedAt: readonly SwitchName[],
  rest: Partial<Omit<Scenario, "facts">> & { facts?: Partial<Facts> } = {},
): Scenario => ({
  name,
  aimedAt,
  workers: 1,
  editors: 1,
  ...rest,
  bounds: bounds(some),
  facts: { ...FACTS, ...rest.facts },
});

export const SCENARIOS: readonly Scenario[] = [
  scenario("a retry is not a new wish", { calls: 3, newWishes: 1, names: 1 }, [
    "anyMessageConfirms",
    "olderRequestsCount",
  ]),
  scenario("a gateway dies at any step", { calls: 2, gatewayCrashes: 1, doubles: 1 }, []),
  scenario("a forced run, sent again", { calls: 4, forces: 1, gatewayCrashes: 1 }, ["noForcedIdentity"]),
  scenario("an hour with the lid closed", { calls: 3, hours: 1 }, ["windowFromTheEnd"]),
  scenario(
    "repeating what was interrupted",
    { calls: 3, newWishes: 1, forces: 1, names: 1, editorCrashes: 1 },
    ["interruptedMayRepeat"],
  ),
  scenario("set A, set B, set A", { calls: 3, newWishes: 1, mutations: 1 }, ["alwaysJoins"], {
    facts: { effect: "idempotent" },
  }),
  scenario("another Editor appears", { calls: 3, editorCrashes: 1 }, ["targetFirst"], {
    editors: 2,
    workers: 2,
  }),
  scenario("jobs added by hand", { calls: 2, handJobs: 1, workerCrashes: 1 }, ["noClaimChecks"]),
  scenario(
    "it expires while its Editor is away",
    { calls: 2, newWishes: 1, names: 1, editorCrashes: 1, expiries: 1 },
    ["jobIdsReused", "noAncestors"],
  ),
  scenario("owners die, hang and lose frames", { workerCrashes: 1, hangs: 1, cuts: 1 }, ["noFence"], {
    workers: 2,
  }),
  scenario("a frame in the socket's buffer", { cuts: 2, editorCrashes: 1 }, ["unknownNeverStarted"]),
  scenario("the Editor restarts between asking and sending", { cuts: 1, editorCrashes: 2 }, ["noRevoke"]),
  scenario("a domain reload, and lost frames", { calls: 2, cuts: 1, reloads: 1, workerCrashes: 1 }, []),
  scenario("the store goes back, the call is sent again", { calls: 2, copies: 1, rollbacks: 1, cuts: 1 }, [
    "afterAtSending",
  ]),
  scenario(
    "the store goes back, and what is sent again expires",
    { calls: 3, copies: 1, rollbacks: 1, expiries: 1, editorCrashes: 1 },
    ["everythingIsAncestor"],
  ),
  scenario("the store goes back behind a forced run", { calls: 3, forces: 1, copies: 1, rollbacks: 1 }, [
    "forcedTakesOld",
  ]),
  scenario(
    "the store goes back behind a forced run of what was revoked",
    { calls: 3, forces: 1, copies: 1, rollbacks: 1, cuts: 1, editorCrashes: 1 },
    ["onlyWhatIsLater"],
  ),
  scenario(
    "the epoch goes back",
    { calls: 1, copies: 1, rollbacks: 1, workerCrashes: 1, cuts: 1 },
    ["noRaise", "nonceIgnored"],
    { workers: 2 },
  ),
  scenario(
    "the last seconds of the store are lost",
    { calls: 2, copies: 1, rollbacks: 1, forgets: 1 },
    ["acknowledgedAtOnce"],
    {
      facts: { rollback: "last seconds", acknowledges: true },
    },
  ),
  scenario(
    "the ledger is put back from a copy",
    { calls: 2, ledgerCopies: 1, ledgerRollbacks: 1, editorCrashes: 1, workerCrashes: 1 },
    ["sentInIgnored"],
  ),
  scenario("the ledger is deleted", { calls: 2, ledgerLosses: 1, editorCrashes: 1, cuts: 1 }, []),
];

/** Every Editor is up, the first one's owner is connected, and nobody has called anything. */
export function startOf({ bounds: left, workers, editors }: Scenario): State {
  return {
    hour: 0,
    caller: { lastId: 0, wishes: [{ force: null, over: false, logId: null, mutations: 0 }], replies: [] },
    requests: [],
    store: { ...EMPTY_STORE, leases: { [EDITOR]: OWNER }, epochs: { [EDITOR]: 1 } },
    version: 0,
    copy: null,
    copyVersion: 0,
    workers: Array.from({ length: workers }, (_, at) => workerAt(at, editors)),
    frames: [],
    editors: Array.from({ length: editors }, (_, at) => editorAt(at)),
    ledgerCopy: null,
    history: { made: [], begun: [], toldAt: {}, storeWentBack: false, ledgerWentBack: false, fault: null },
    left,
  };
}

const EDITOR = "Editor 1";
const OWNER = "worker 1.1";
const FENCE = { epoch: 1, ownerNonce: OWNER };

const workerAt = (at: number, editors: number): WorkerState => ({
  name: `worker ${at + 1}`,
  life: at === 0 ? 1 : 0,
  // One of its own for each Editor.
  editor: `Editor ${(at % editors) + 1}`,
  fence: at === 0 ? FENCE : null,
  link: at === 0 ? { connection: 1, session: 1, ledgerId: "ledger 1" } : null,
  connections: at === 0 ? 1 : 0,
  works: [],
  acks: [],
});

const editorAt = (at: number): EditorState => ({
  id: `Editor ${at + 1}`,
  up: true,
  session: 1,
  ledger: { ledgerId: `ledger ${at + 1}`, seq: 1, fence: at === 0 ? FENCE : null, entries: [] },
  seat: at === 0 ? { worker: "worker 1", life: 1, connection: 1 } : null,
});
