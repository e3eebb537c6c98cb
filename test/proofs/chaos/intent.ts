/**
 * What callers want. An intent for something mutating is a call that nobody else ever makes, or a deliberate second run of
 * one; repeatable calls are few, so that many want the same.
 */
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import type { Account, Intent } from "../engine/intents.js";
import type { Random } from "../engine/random.js";
import type { ChaosEditor } from "./editor.js";

export interface ChaosIntent extends Intent {
  readonly editor: ChaosEditor;
  readonly isRead: boolean;
  /** A domain reload does not end it. */
  readonly isResumable: boolean;
  /** The operation that it runs once more; forgotten where the store has forgotten it. */
  supersedes: string | undefined;
  /** Somebody asks for its cancellation while it is under way. */
  readonly isToBeCancelled: boolean;
  isCancelAsked: boolean;
  /** Two callers want it. */
  isShared: boolean;
  /** What came of asking instead of an outcome; ms since the epoch, this process's clock. */
  readonly setbacks: { at: number; what: string }[];
}

export type ChaosAccount = Account<ChaosIntent>;

/** From when on an event may explain the outcome: the operation, or its execution, may have been another call's first. */
export function acceptedAt({ askedAt }: ChaosIntent, reported: CallAnswer): number {
  const times = [reported.accepted_at, reported.executed_at].map((time) => Date.parse(String(time)));
  return Math.min(askedAt, ...times.filter((time) => !Number.isNaN(time)));
}

type Call = Pick<ChaosIntent, "tool" | "args" | "isRead" | "isRepeatable" | "isResumable">;

export function drawIntent(
  account: ChaosAccount,
  random: Random,
  editors: readonly ChaosEditor[],
): ChaosIntent {
  const editor = random.pick(editors);
  const number = account.intents.length + 1;
  const call =
    editor.plain && random.chance(0.9) ? menuItem(number, random) : drawCall(number, random, editor);
  const isToBeCancelled = !call.isRead && random.chance(0.05);
  return intend(account, call, { editor, isToBeCancelled, supersedes: undefined });
}

/** The same call, meant once more. */
export function intendAgain(account: ChaosAccount, intent: ChaosIntent, logId: string): ChaosIntent {
  const { tool, args, isRead, isRepeatable, isResumable, editor } = intent;
  const call = { tool, args, isRead, isRepeatable, isResumable };
  return intend(account, call, { editor, isToBeCancelled: false, supersedes: logId });
}

function intend(
  account: ChaosAccount,
  { tool, args, isRepeatable, ...kind }: Call,
  more: Pick<ChaosIntent, "editor" | "isToBeCancelled" | "supersedes">,
): ChaosIntent {
  return account.intend(
    { tool, args, isRepeatable },
    { ...kind, ...more, isCancelAsked: false, isShared: false, setbacks: [] },
  );
}

function drawCall(number: number, random: Random, editor: ChaosEditor): Call {
  const kind = random.between(0, 1);
  if (editor.plain || kind < 0.06) {
    return { ...CALL, tool: "get-hierarchy", args: {}, isRead: true };
  }
  // The host's tests and builds last as long as its script says, and it has no settings.
  const simulated = editor.engine === "typescript";
  if (kind < 0.2) {
    const length = simulated ? { SimulatedTests: 4, SimulatedSeconds: 0.03 } : {};
    const args = { FilterType: "all", FilterValue: `${editor.name} ${random.whole(1, 4)}`, ...length };
    return { ...CALL, tool: "run-tests", args, isRepeatable: true, isResumable: true };
  }
  if (kind < 0.28) {
    const reload = simulated && random.chance(0.3) ? { SimulatedReload: true } : {};
    const args = { ForceRecompile: editor.name === "E1", ...reload };
    return { ...CALL, tool: "compile", args, isRepeatable: true, isResumable: true };
  }
  if (kind < 0.36 && simulated) {
    const args = { Path: `/${editor.name}/Light.intensity`, Value: random.whole(1, 3) };
    return { ...CALL, tool: "set-property", args, isRepeatable: true };
  }
  if (kind < 0.42) {
    const length = simulated ? { SimulatedSeconds: 0.1 } : {};
    const args = { BuildTarget: "Android", OutputPath: `Builds/Intent${number}`, ...length };
    return { ...CALL, tool: "build-player", args };
  }
  return menuItem(number, random);
}

/** What a call is where nothing else is said. */
const CALL = { isRead: false, isRepeatable: false, isResumable: false };

/** Mostly short, sometimes long enough for anything to happen meanwhile. */
function menuItem(number: number, random: Random): Call {
  const seconds = random.chance(0.94) ? random.between(0.005, 0.06) : random.between(0.2, 1.2);
  // Its digits beyond the thousandth make it a call of its own.
  const item = `Simulator/Block For ${seconds.toFixed(3)}${String(number).padStart(6, "0")}1 Seconds`;
  return { ...CALL, tool: "execute-menu-item", args: { MenuItemPath: item } };
}
