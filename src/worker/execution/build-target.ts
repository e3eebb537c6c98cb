/**
 * An operation that names a build target waits in its pool for an Editor that has this target active: any other would have to
 * import the project's assets again. It goes to any Editor if no connected one of the pool fits.
 */
import { isMember, labelsOf } from "../../shared/editors/pool.js";
import type { OperationRecord } from "../../shared/operation/operation.js";
import type { Store } from "../../shared/store/store.js";
import type { Tool } from "../../shared/tools/tool.js";

/** Whether this Editor leaves the operation, which is in its pool, to others. `labels`: its own. */
export async function isForOthers(
  { operations, editors, queues }: Pick<Store, "operations" | "editors" | "queues">,
  { logId, editor: pool, lane }: OperationRecord,
  tool: Tool,
  labels: readonly string[],
): Promise<boolean> {
  const parameter = targetParameterOf(tool);
  if (parameter === undefined) return false;
  const target = (await operations.argumentsOf(logId))?.[parameter];
  if (typeof target !== "string") return false;
  const label = `platform=${target.toLowerCase()}`;
  if (labels.includes(label)) return false;
  const fitting = (await editors.all()).filter(({ profile, connected }) => {
    const theirs = labelsOf(profile);
    return connected && theirs.includes(label) && isMember(pool, theirs);
  });
  for (const { profile } of fitting) {
    const theirs = (await editors.tools(profile.editorId)).find(({ name }) => name === tool.name);
    const has = theirs?.effect === tool.effect && theirs.lane === tool.lane;
    if (has && !(await queues.isPaused(profile.editorId, lane))) return true;
  }
  return false;
}

/** The parameter of a tool that names Unity's build target, as build-player has it; undefined: it has none. */
function targetParameterOf({ inputSchema }: Tool): string | undefined {
  return Object.keys(inputSchema.properties ?? {}).find(
    (name) => name.replaceAll("_", "").toLowerCase() === "buildtarget",
  );
}
