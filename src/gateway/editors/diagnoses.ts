/** What keeps Editors from working, as far as it was reported recently. */

import { holdsUpCalls } from "../../shared/editors/diagnosis.js";
import { BrokerError } from "../../shared/errors.js";
import {
  DIAGNOSIS_STANDS_MS,
  type Editors,
  type KnownEditor,
  type PublicDiagnosis,
} from "../../shared/store/editors/editors.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";

/** Found on a worker's machine, but it never answered hello. */
export interface Unreached extends PublicDiagnosis {
  editor: string;
}

/** The diagnosis, if the Editor's owner reported it recently. `now`: store clock, ms. */
export function stands(diagnosis: PublicDiagnosis | undefined, now: number): PublicDiagnosis | undefined {
  return diagnosis && now - diagnosis.at < DIAGNOSIS_STANDS_MS ? diagnosis : undefined;
}

/** The diagnosis, if it holds up calls. */
export function holdingUp(diagnosis: PublicDiagnosis | undefined): PublicDiagnosis | undefined {
  return diagnosis && holdsUpCalls(diagnosis) ? diagnosis : undefined;
}

export function unreachedOf(
  diagnoses: ReadonlyMap<string, PublicDiagnosis>,
  known: readonly KnownEditor[],
  now: number,
): Unreached[] {
  const ids = new Set(known.map(({ profile }) => profile.editorId));
  return [...diagnoses].flatMap(([editor, reported]) => {
    const diagnosis = ids.has(editor) ? undefined : stands(reported, now);
    return diagnosis ? [{ ...diagnosis, editor }] : [];
  });
}

/** If no Editor was ever seen, adds why Editors could not be reached; other errors stay as they are. */
export async function withDiagnoses(
  error: unknown,
  { editors, operations }: { editors: Pick<Editors, "diagnoses">; operations: Pick<Operations, "now"> },
  sees: (editorId: string) => boolean,
): Promise<unknown> {
  if (!(error instanceof BrokerError) || error.code !== "NO_EDITOR") return error;
  const [diagnoses, now] = await Promise.all([editors.diagnoses(), operations.now()]);
  const found = unreachedOf(diagnoses, [], now).filter(({ editor }) => sees(editor));
  if (found.length === 0) return error;
  const said = found.map(({ message, next }) => `${message} ${next}`).join(" ");
  return new BrokerError("NO_EDITOR", `No Unity Editor could be reached. ${said}`);
}
