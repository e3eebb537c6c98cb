/** The refusal of a call whose Editor could not be found or chosen. */

import { holdsUpCalls } from "../../shared/editors/diagnosis.js";
import {
  type Candidate,
  labelsIn,
  ownLabels,
  poolIn,
  resolveTarget,
  type TargetProblem,
} from "../../shared/editors/target.js";
import { BrokerError } from "../../shared/errors.js";
import {
  DIAGNOSIS_STANDS_MS,
  type Editors,
  type KnownEditor,
  type PublicDiagnosis,
} from "../../shared/store/editors/editors.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";

/** `isSelected`: the call named no Editor, but its session had selected this one. `sees`: only these may be named. */
export function targetError(
  problem: TargetProblem,
  {
    isSelected = false,
    sees = () => true,
  }: { isSelected?: boolean; sees?: (editorId: string) => boolean } = {},
): BrokerError {
  switch (problem.code) {
    case "NO_EDITOR":
      return new BrokerError("NO_EDITOR", "No Unity Editor has been seen yet.");
    case "EDITOR_UNKNOWN": {
      const { named } = problem;
      if (poolIn(named) !== undefined) return noMember(named, problem.candidates);
      const what = isSelected
        ? `The Editor ${named}, which select_editor chose for this session, is no longer known`
        : `No known Editor is called "${named}"`;
      return new BrokerError("EDITOR_UNKNOWN", `${what}; known: ${list(problem.candidates)}.`, {
        candidates: shown(problem.candidates),
      });
    }
    case "EDITOR_AMBIGUOUS": {
      const isThere = problem.candidates.some(({ connected, isReturning }) => connected || isReturning);
      const none = isThere ? "" : "No Unity Editor is connected: open one, or name the Editor to wait for. ";
      const several =
        problem.named === undefined ? "Several Editors" : `Several Editors called "${problem.named}"`;
      const what = `${none}${several} could be meant`;
      return new BrokerError("EDITOR_AMBIGUOUS", `${what}: ${list(problem.candidates)}.`, {
        // The answer's message names the Editors.
        error: `${what}.`,
        candidates: shown(problem.candidates),
      });
    }
    case "EDITORS_NOT_BACK":
      return notBack(problem.editors, sees);
  }
}

function noMember(named: string, candidates: readonly Candidate[]): BrokerError {
  const pool = poolIn(named);
  const what = pool
    ? `No known Editor has the labels ${labelsIn(pool).join(", ")}`
    : `"${named}" is no pool: write pool:<label>, or pool:<label>,<label> for the Editors that have both`;
  const known = candidates.map(({ id, labels }) => `${id} (${labels.join(", ")})`).join("; ");
  return new BrokerError("EDITOR_UNKNOWN", `${what}; known: ${known || "none"}.`, {
    candidates: shown(candidates),
  });
}

function notBack(missing: readonly string[], sees: (editorId: string) => boolean): BrokerError {
  const editors = missing.filter(sees);
  const others = editors.length === missing.length ? [] : ["others"];
  return new BrokerError(
    "EDITORS_NOT_BACK",
    `Redis has lost data, and these Editors, one of which may have run this call, have not connected since: ${[...editors, ...others].join(", ")}.`,
    { editors },
  );
}

/** The Editor that a name identifies, or why there is none. Where one Editor is meant, a pool is refused. */
export function namedAmong(named: string, candidates: readonly Candidate[]): Candidate | BrokerError {
  if (poolIn(named) !== undefined)
    return new BrokerError(
      "INVALID_ARGUMENTS",
      `"${named}" is a pool; here, name one Editor. A call takes a pool in its own \`editor\` argument (--pool).`,
    );
  const target = resolveTarget(named, candidates);
  if ("code" in target) return targetError(target);
  const found = candidates.find(({ id }) => target.kind === "named" && id === target.editor);
  return found ?? targetError({ code: "EDITOR_UNKNOWN", named, candidates });
}

/** In the form of list_editors. */
export function shown(candidates: readonly Candidate[]): Record<string, unknown>[] {
  return candidates.map(({ id, projectName, projectPath, connected, labels }) => ({
    id,
    project: projectName,
    project_path: projectPath,
    connected,
    ...labelled(labels),
  }));
}

/** For lists of Editors; nothing where an Editor has no labels of its own. */
export function labelled(labels: readonly string[]): { labels?: string[] } {
  const own = ownLabels(labels);
  return own.length === 0 ? {} : { labels: own };
}

function list(candidates: readonly Candidate[]): string {
  return candidates
    .map(
      ({ id, projectPath, ...signs }) =>
        `${id} (${[stateOf(signs), projectPath].filter(Boolean).join(", ")})`,
    )
    .join("; ");
}

function stateOf({ connected, isReturning }: Pick<Candidate, "connected" | "isReturning">): string {
  if (connected) return "connected";
  return isReturning ? "reconnecting" : "not connected";
}

// What keeps Editors from working, as far as it was reported recently.

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
