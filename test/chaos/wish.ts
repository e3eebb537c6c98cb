/**
 * What callers want. A wish for something mutating is a call that nobody else ever makes, or a deliberate second run of
 * one; repeatable calls are few, so that many want the same.
 */
import { fingerprintOf } from "../../src/shared/idempotency.js";
import type { Told } from "../harness/process-clients.js";
import type { Random } from "../never-twice/random.js";
import type { ChaosEditor } from "./editor.js";

export interface Wish {
  readonly number: number;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Names the call; a deliberate second run has the same. */
  readonly fingerprint: string;
  readonly editor: ChaosEditor;
  readonly isRead: boolean;
  /** It may run more often than it was wished, and what was told of it answers nobody later. */
  readonly isRepeatable: boolean;
  /** A domain reload does not end it. */
  readonly isResumable: boolean;
  /** The operation that it runs once more; forgotten where the store has forgotten it. */
  supersedes: string | undefined;
  /** How often the call was sent for it. */
  sent: number;
  /** Somebody asks for its cancellation while it is under way. */
  readonly isToBeCancelled: boolean;
  isCancelAsked: boolean;
  /** ms since the epoch, this process's clock. */
  askedAt: number;
  /** What was told of it for good, in order; nothing while it is under way. */
  readonly told: { at: number; told: Told }[];
  /** Every log_id that anybody was given for it. */
  readonly logIds: Set<string>;
  /** What went wrong with asking, last. */
  lastError: string;
}

/** The operation may have been another's call first. */
export function acceptedAt({ askedAt }: Wish, told: Told): number {
  const at = Date.parse(String(told.accepted_at));
  return Number.isNaN(at) ? askedAt : Math.min(askedAt, at);
}

type Call = Pick<Wish, "tool" | "args" | "isRead" | "isRepeatable" | "isResumable">;

export interface Wishes {
  readonly all: Wish[];
  draw(random: Random, editors: readonly ChaosEditor[]): Wish;
  /** The same call, meant once more. */
  again(wish: Wish, logId: string): Wish;
}

export function createWishes(): Wishes {
  const all: Wish[] = [];
  const add = (call: Call, editor: ChaosEditor, more: Pick<Wish, "supersedes" | "isToBeCancelled">): Wish => {
    const wish: Wish = {
      ...call,
      ...more,
      number: all.length + 1,
      fingerprint: fingerprintOf(call.tool, call.args as never),
      editor,
      isCancelAsked: false,
      sent: 0,
      askedAt: Date.now(),
      told: [],
      logIds: new Set(),
      lastError: "",
    };
    all.push(wish);
    return wish;
  };
  return {
    all,
    draw(random, editors) {
      const editor = random.pick(editors);
      const number = all.length + 1;
      const call =
        editor.plain && random.chance(0.9) ? menuItem(number, random) : drawCall(number, random, editor);
      return add(call, editor, {
        supersedes: undefined,
        isToBeCancelled: !call.isRead && random.chance(0.05),
      });
    },
    again: (wish, logId) => add(wish, wish.editor, { supersedes: logId, isToBeCancelled: false }),
  };
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
    const args = { BuildTarget: "Android", OutputPath: `Builds/Wish${number}`, ...length };
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
