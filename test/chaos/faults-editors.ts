/** Unity's part: it dies, hangs, reloads its scripts, and its disk is slow, full, or an older one. */
import type { Random } from "../never-twice/random.js";
import type { ChaosEditor } from "./editor.js";
import type { Aim, Fault, Group } from "./fault.js";
import type { ChaosWorld } from "./world.js";

interface EditorFault {
  kind: string;
  group?: Group;
  weight: number;
  /** Which Editors it can strike; all that run, if left out. */
  of?(editor: ChaosEditor): boolean;
  draw(editor: ChaosEditor, random: Random): Pick<Aim, "lastsMs" | "strike" | "heal"> | undefined;
}

function editorFault({ kind, group = "editor", weight, of = isAny, draw }: EditorFault): Fault {
  return {
    kind,
    group,
    weight,
    aim(world: ChaosWorld, random: Random) {
      const struck = world.editors.filter((editor) => editor.isRunning && of(editor));
      if (struck.length === 0) return undefined;
      const editor = random.pick(struck);
      const drawn = draw(editor, random);
      return drawn && { target: editor.name, editors: [editor.name], ...drawn };
    },
  };
}

/** How long it is waited for that something runs there, ms: what ends then is what this is about. */
const AIM_MS = 1_000;

const isAny = (_editor: ChaosEditor): boolean => true;
const hasLedger = ({ plain }: ChaosEditor): boolean => !plain;
const isSimulated = ({ engine }: ChaosEditor): boolean => engine === "typescript";

/** It ends in one of these ways and comes back. */
function away(kind: string, weight: number, end: (editor: ChaosEditor) => Promise<void>, of = isAny): Fault {
  return editorFault({
    kind,
    weight,
    of,
    draw(editor, random) {
      const isAimed = random.chance(0.6);
      return {
        lastsMs: random.between(50, 1500),
        async strike() {
          if (isAimed) await editor.busy(AIM_MS);
          await end(editor);
          return undefined;
        },
        heal: () => editor.start(),
      };
    },
  });
}

/** While it is down its ledger becomes what it was, or nothing. */
function otherLedger(
  kind: string,
  weight: number,
  choose: (editor: ChaosEditor, random: Random) => { copy: string | undefined } | undefined,
): Fault {
  return editorFault({
    kind,
    group: "ledger",
    weight,
    of: hasLedger,
    draw(editor, random) {
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
          heal: () => editor.start(),
        }
      );
    },
  });
}

/** A command of its control channel, and the one that ends it. */
function commanded(
  fault: Omit<EditorFault, "draw">,
  lasts: readonly [number, number],
  command: (random: Random) => { do: string; [parameter: string]: unknown },
  end?: { do: string; [parameter: string]: unknown },
): Fault {
  return editorFault({
    ...fault,
    draw(editor, random) {
      const what = command(random);
      return {
        lastsMs: random.between(...lasts),
        async strike() {
          await editor.do(what);
          return JSON.stringify(what);
        },
        async heal() {
          if (end && editor.isRunning) await editor.do(end);
        },
      };
    },
  });
}

export const editorFaults: readonly Fault[] = [
  away("Editor SIGKILL", 5, (editor) => editor.kill()),
  away("Editor loses its power", 2, (editor) => editor.crash(), isSimulated),
  away("Editor quits", 2, (editor) => editor.quit()),
  editorFault({
    kind: "Editor SIGSTOP",
    weight: 4,
    draw(editor, random) {
      let pid = 0;
      return {
        lastsMs: random.between(200, 2500),
        async strike() {
          pid = await editor.pid();
          process.kill(pid, "SIGSTOP");
          return undefined;
        },
        async heal() {
          process.kill(pid, "SIGCONT");
        },
      };
    },
  }),
  commanded({ kind: "domain reload", weight: 6 }, [0, 0], (random) => ({
    do: "reload",
    downMs: Math.round(random.between(20, 400)),
  })),
  commanded({ kind: "main thread stalls", weight: 2 }, [0, 0], (random) => ({
    do: "stallMainThread",
    ms: Math.round(random.between(100, 1500)),
  })),
  commanded(
    { kind: "Editor's disk is slow", group: "disk", weight: 3, of: hasLedger },
    [300, 2000],
    (random) => ({ do: "slowDisk", ms: Math.round(random.between(20, 200)) }),
    { do: "slowDisk", ms: 0 },
  ),
  commanded(
    { kind: "Editor's disk refuses", group: "disk", weight: 2, of: hasLedger },
    [100, 1000],
    () => ({ do: "breakLedger", broken: true }),
    { do: "breakLedger", broken: false },
  ),
  otherLedger("ledger rolled back", 8, (editor, random) => {
    const copies = editor.ledgerCopies();
    return copies.length === 0 ? undefined : { copy: random.pick(copies) };
  }),
  otherLedger("ledger deleted", 6, () => ({ copy: undefined })),
];
