/** The known Editors as a call may mean them: their projects, and which of them are there. */
import type { Editors, KnownEditor, Presence } from "../shared/redis/editors.js";
import type { Operations } from "../shared/redis/operations.js";
import type { Candidate } from "../shared/target.js";

export interface CandidateOptions {
  /** An Editor not heard of for this long is away, ms. */
  editorAwayMs: number;
}

/** A domain reload of a large project takes minutes; a process that says nothing for longer is not waited for, ms. */
const RETURNING_MS = 10 * 60_000;

export function createCandidates(
  { editors, operations }: { editors: Pick<Editors, "presence">; operations: Pick<Operations, "now"> },
  options: CandidateOptions,
): () => Promise<Candidate[]> {
  return async () => {
    const [present, now] = await Promise.all([editors.presence(), operations.now()]);
    return present.map((editor) => candidateOf(editor, now, options));
  };
}

/** `now`: store clock, ms. */
export function isConnected(
  isLive: boolean,
  { lastSeenAt }: Pick<KnownEditor, "lastSeenAt">,
  now: number,
  { editorAwayMs }: CandidateOptions,
): boolean {
  return isLive && now - lastSeenAt < editorAwayMs;
}

function candidateOf(editor: Presence, now: number, options: CandidateOptions): Candidate {
  const { id, profile, isLive, isOwned, lastSeenAt } = editor;
  const connected = isConnected(isLive, editor, now, options);
  const isReturning = !connected && isOwned && now - lastSeenAt < RETURNING_MS;
  return {
    id,
    projectName: profile?.projectName ?? "",
    projectPath: profile?.projectPath ?? "",
    connected,
    ...(isReturning ? { isReturning } : {}),
  };
}
