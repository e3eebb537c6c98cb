/** Where an exploration begins. */

import { EMPTY_STORE } from "../broker/store.js";
import type { Scenario } from "../scenario.js";
import { stepsOf } from "../steps.js";
import type { Rules } from "../switches.js";
import type { EditorState, State, WorkerState } from "./state.js";

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
      intents: [{ isOthers: false, force: null, over: false, logId: null, changes: 0, mutations: 0 }],
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
      asked: [],
      read: [],
      escaped: [],
      reported: [],
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
  epochFrom: at === 0 ? 1 : null,
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
