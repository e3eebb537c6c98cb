/**
 * ▲5 The last change of each asker as this process accepted it: the store may be lost with a change that no Editor was
 * sent yet, and a run of the tests that comes back must not take in a call behind it.
 */

import type { Asker, Chain } from "../shared/redis/chain.js";
import { createRecent } from "../shared/redis/recent.js";

export interface OwnChanges {
  /** An operation that counts as a change was accepted for the asker, or joined by it. */
  note(editor: string, asker: Asker, acceptedAt: number): void;
  /** The chain with what is remembered here. */
  complete(chain: Chain, asker: Asker): Chain;
}

const REMEMBERED = 10_000;

export function createOwnChanges(): OwnChanges {
  const last = createRecent<number>(REMEMBERED);
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
