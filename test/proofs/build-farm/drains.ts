/** Editors that a person drains and resumes: in between they begin nothing. */
import type { FarmEditor, Operator } from "./world.js";

export interface Drains {
  /** Drains it; resolves when nothing runs there, or with the failure of the command while the store is away. */
  drain(editor: FarmEditor): Promise<void>;
  resume(editor: FarmEditor): Promise<void>;
  /** The pauses may have been lost with what the store has written last. */
  lost(): void;
  /** Executions that began in a drained Editor. */
  faults(): string[];
}

interface Drained {
  editor: FarmEditor;
  from: number;
  to: number;
}

export function createDrains(operator: Operator): Drains {
  const kept: Drained[] = [];
  let losses = 0;
  const under = new Map<FarmEditor, number>();
  return {
    async drain(editor) {
      const before = losses;
      await operator("editors", "drain", editor.id());
      if (losses === before) under.set(editor, Date.now());
    },
    async resume(editor) {
      const from = under.get(editor);
      under.delete(editor);
      if (from !== undefined) kept.push({ editor, from, to: Date.now() });
      await operator("editors", "resume", editor.id());
    },
    lost() {
      losses += 1;
      under.clear();
    },
    faults: () =>
      kept.flatMap(({ editor, from, to }) =>
        editor
          .executions()
          .filter(({ at }) => at > from && at < to)
          .map(({ what }) => `${what} began in ${editor.name}, which was drained`),
      ),
  };
}
