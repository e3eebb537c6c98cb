/** ▲4 Which Editor a call is for. */

/** What the caller said of the target: one Editor, or nothing. */
export type Target = { kind: "named"; editor: string } | { kind: "open" };

export type TargetProblem =
  | { code: "EDITOR_UNKNOWN"; named: string; candidates: string[] }
  | { code: "EDITOR_AMBIGUOUS"; named?: string; candidates: string[] }
  | { code: "NO_EDITOR" };

/** ▲4 Resolves the `editor` argument, an id or a unique beginning of one, among the Editors ever seen. */
export function resolveTarget(named: string | undefined, known: readonly string[]): Target | TargetProblem {
  if (named === undefined) return { kind: "open" };
  if (known.includes(named)) return { kind: "named", editor: named };
  const matches = known.filter((id) => id.startsWith(named));
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return { kind: "named", editor: only };
  if (known.length === 0) return { code: "NO_EDITOR" };
  return only === undefined
    ? { code: "EDITOR_UNKNOWN", named, candidates: [...known] }
    : { code: "EDITOR_AMBIGUOUS", named, candidates: matches };
}

/** Does what a caller named mean this Editor? It may be one that is no longer known, so its records answer too. */
export function names(named: string, editor: string): boolean {
  return editor === named || editor.toLowerCase().startsWith(named.toLowerCase());
}

/** What a target may be chosen from where the call names none. */
export interface Around {
  candidates: readonly { id: string }[];
}

/** ▲4 The Editor that a new operation goes to: the named one, else the only known one. */
export function editorFor(target: Target, { candidates }: Around): string | TargetProblem {
  const known = candidates.map(({ id }) => id);
  if (target.kind === "named") return target.editor;
  const [only] = known;
  if (only === undefined) return { code: "NO_EDITOR" };
  return known.length === 1 ? only : { code: "EDITOR_AMBIGUOUS", candidates: [...known] };
}
