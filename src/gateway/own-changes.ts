/**
 * Join (▲5): the last change of each asker that this process accepted. The store may be lost together with a change
 * that was not yet sent to any Editor, and a call after that change must not join an older test run that is restored.
 */

import { createBoundedMemory } from "../shared/bounded-memory.js";
import type { Asker, Chain } from "../shared/store/operations/chain.js";

export interface OwnChanges {
  /** An operation that counts as a change was accepted for the asker, or joined by it. */
  note(editor: string, asker: Asker, acceptedAt: number): void;
  /** The chain, completed with the changes remembered here. */
  complete(chain: Chain, asker: Asker): Chain;
}

const REMEMBERED = 10_000;

export function createOwnChanges(): OwnChanges {
  const last = createBoundedMemory<number>(REMEMBERED);
  const keyOf = (editor: string, by: string): string => `${editor} ${by}`;
  return {
    note(editor, { principal, caller }, acceptedAt) {
      for (const by of new Set([caller?.id ?? principal, principal])) {
        const key = keyOf(editor, by);
        last.set(key, Math.max(acceptedAt, last.get(key) ?? 0));
      }
    },
    complete(chain, { principal, caller }) {
      const editors = chain.editors.map((editor) => {
        const remembered = last.get(keyOf(editor.id, caller?.id ?? principal));
        if (remembered === undefined) return editor;
        return { ...editor, callerChangedAt: Math.max(remembered, editor.callerChangedAt ?? 0) };
      });
      return { ...chain, editors };
    },
  };
}
