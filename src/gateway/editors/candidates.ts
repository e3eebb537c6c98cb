/** The known Editors as candidates for a call: their projects, and whether they are connected. */

import { labelsOf } from "../../shared/editors/pool.js";
import type { Candidate } from "../../shared/editors/target.js";
import type { Availability, AwayEditor, KnownEditor } from "../../shared/store/editors/editors.js";

export interface CandidateOptions {
  /** An Editor without a sign of life for this long is away, ms. */
  editorAwayMs: number;
}

/** A domain reload of a large project takes minutes; after this long without a sign of life it is not waited for, ms. */
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
export function candidateOf(editor: Availability, now: number, options: CandidateOptions): Candidate {
  const { id, profile, isLive, isOwned, lastSeenAt } = editor;
  const connected = isConnected(isLive, editor, now, options);
  const isReturning = !connected && isOwned && now - lastSeenAt < RETURNING_MS;
  return {
    id,
    projectName: profile?.projectName ?? "",
    projectPath: profile?.projectPath ?? "",
    connected,
    labels: profile ? labelsOf(profile) : [],
    ...(isReturning ? { isReturning } : {}),
  };
}

/** An Editor that the store does not know: only its last catalogue is noted. */
export function notedCandidate({ profile }: Pick<AwayEditor, "profile">): Candidate {
  const { editorId: id, projectName, projectPath } = profile;
  return { id, projectName, projectPath, connected: false, labels: labelsOf(profile), isNoted: true };
}
