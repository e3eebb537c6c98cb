/** Unity's part: it dies, hangs, reloads its scripts, and its disk is slow, full, or an older one. */
import type { Random } from "../../engine/random.js";
import type { ChaosEditor } from "../editor.js";
import { type Fault, fault, type Group, standsStill } from "./fault.js";

/** How long it is waited for that something runs there, ms: what ends then is what this is about. */
const AIM_MS = 1_000;

const isAny = (_editor: ChaosEditor): boolean => true;
const hasLedger = ({ plain }: ChaosEditor): boolean => !plain;
const isSimulated = ({ engine }: ChaosEditor): boolean => engine === "typescript";

type What = readonly [kind: string, group: Group, weight: number];

/** Of those that run. */
function editorFault(what: What, of: typeof isAny, draw: Parameters<typeof fault<ChaosEditor>>[2]): Fault {
  return fault(
    what,
    (world, random) => {
      const struck = world.editors.filter((editor) => editor.isRunning && of(editor));
      if (struck.length === 0) return undefined;
      const it = random.pick(struck);
      return { it, target: it.name, editors: [it.name] };
    },
    draw,
  );
}

/** It ends in one of these ways and comes back. */
function away(what: What, end: (editor: ChaosEditor) => Promise<void>, of = isAny): Fault {
  return editorFault(what, of, (editor, random) => {
    const isAimed = random.chance(0.6);
    return {
      lastsMs: random.between(50, 1500),
      async strike() {
        if (isAimed) await editor.busy(AIM_MS);
        await end(editor);
      },
      heal: editor.start,
    };
  });
}

/** While it is down its ledger becomes what it was, or nothing. */
function otherLedger(
  what: What,
  choose: (editor: ChaosEditor, random: Random) => { copy: string | undefined } | undefined,
): Fault {
  return editorFault(what, hasLedger, (editor, random) => {
    const chosen = choose(editor, random);
    return (
      chosen && {
        lastsMs: random.between(50, 1000),
        async strike() {
          await editor.busy(AIM_MS);
          await editor.kill();
          editor.restoreLedger(chosen.copy);
          return chosen.copy;
        },
        heal: editor.start,
      }
    );
  });
}

type Command = { do: string; [parameter: string]: unknown };

/** A command of its control channel, and the one that ends it. */
function commanded(
  what: What,
  of: typeof isAny,
  lasts: readonly [number, number],
  draw: (random: Random) => Command,
  end?: Command,
): Fault {
  return editorFault(what, of, (editor, random) => {
    const command = draw(random);
    return {
      lastsMs: random.between(...lasts),
      async strike() {
        await editor.do(command);
        return JSON.stringify(command);
      },
      heal: async () => end && editor.isRunning && editor.do(end),
    };
  });
}

export const editorFaults: readonly Fault[] = [
  away(["Editor SIGKILL", "editor", 5], (editor) => editor.kill()),
  away(["Editor loses its power", "editor", 2], (editor) => editor.crash(), isSimulated),
  away(["Editor quits", "editor", 2], (editor) => editor.quit()),
  editorFault(["Editor SIGSTOP", "editor", 4], isAny, (editor, random) =>
    standsStill(random.between(200, 2500), editor.pid),
  ),
  commanded(["domain reload", "editor", 6], isAny, [0, 0], (random) => ({
    do: "reload",
    downMs: Math.round(random.between(20, 400)),
  })),
  commanded(["main thread stalls", "editor", 2], isAny, [0, 0], (random) => ({
    do: "stallMainThread",
    ms: Math.round(random.between(100, 1500)),
  })),
  commanded(
    ["Editor's disk is slow", "disk", 3],
    hasLedger,
    [300, 2000],
    (random) => ({ do: "slowDisk", ms: Math.round(random.between(20, 200)) }),
    { do: "slowDisk", ms: 0 },
  ),
  commanded(
    ["Editor's disk refuses", "disk", 2],
    hasLedger,
    [100, 1000],
    () => ({ do: "breakLedger", broken: true }),
    { do: "breakLedger", broken: false },
  ),
  otherLedger(["ledger rolled back", "ledger", 8], (editor, random) => {
    const copies = editor.ledgerCopies();
    return copies.length === 0 ? undefined : { copy: random.pick(copies) };
  }),
  otherLedger(["ledger deleted", "ledger", 6], () => ({ copy: undefined })),
];
