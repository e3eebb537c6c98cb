/** The known Editors as a call may mean them: their projects, and which of them are there. */
import type { KnownEditor, Presence } from "../shared/redis/editors.js";
import type { Candidate } from "../shared/target.js";

export interface CandidateOptions {
  /** An Editor not heard of for this long is away, ms. */
  editorAwayMs: number;
}

/** A domain reload of a large project takes minutes; a process that says nothing for longer is not waited for, ms. */
const RETURNING_MS = 10 * 60_000;

/** `now`: store clock, ms. */
export function isConnected(
  isLive: boolean,
  { lastSeenAt }: Pick<KnownEditor, "lastSeenAt">,
  now: number,
  { editorAwayMs }: CandidateOptions,
): boolean {
  return isLive && now - lastSeenAt < editorAwayMs;
}

/** `now`: store clock, ms. */
export function candidateOf(editor: Presence, now: number, options: CandidateOptions): Candidate {
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
