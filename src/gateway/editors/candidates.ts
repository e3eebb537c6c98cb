/** The known Editors as candidates for a call: their projects, and whether they are connected. */

import { labelsOf } from "../../shared/editors/pool.js";
import type { Candidate } from "../../shared/editors/target.js";
import type { Availability, AwayEditor } from "../../shared/store/editors/editors.js";

/** A domain reload of a large project takes minutes; after this long without a sign of life it is not waited for, ms. */
const RETURNING_MS = 10 * 60_000;

/** `now`: store clock, ms. */
export function candidateOf(editor: Availability, now: number): Candidate {
  const { id, profile, connected, isOwned, lastSeenAt } = editor;
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
