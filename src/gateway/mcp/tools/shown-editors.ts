/** The Editors as callers see them: in the answer of list_editors, and as resources. */
import { publicDiagnosis } from "../../../shared/editors/diagnosis.js";
import { labelsOf } from "../../../shared/editors/target.js";
import type { Workload } from "../../../shared/editors/workload.js";
import type { Broker } from "../../broker.js";
import { labelled } from "../../editors/target-error.js";

export interface ShownEditor {
  id: string;
  connected: boolean;
  [field: string]: unknown;
}

export interface ShownEditors {
  editors: ShownEditor[];
  /** Found on a worker's machine, but without an answer to hello; left out if there is none. */
  unreached?: { id: string; project: string; diagnosis: unknown }[];
  /** Why no new call is accepted; left out if calls are. */
  refuses_calls?: { error_code: string; message: string };
  /** How many are connected. */
  connected: number;
}

/** `selected`: the Editor that the session chose. Sorted by project and id, so that the order stays, whichever was heard last. */
export async function shownEditors(
  broker: Pick<Broker, "editors">,
  principal: string,
  selected?: string,
): Promise<ShownEditors> {
  const { editors: stored, noted, unreached, unfit, now } = await broker.editors(principal);
  const away = noted.map((editor) => ({
    ...editor,
    connected: false,
    isPaused: false,
    live: undefined,
    workload: undefined,
    diagnosis: undefined,
  }));
  const editors = [...stored, ...away].sort(
    ({ profile: a }, { profile: b }) =>
      a.projectName.localeCompare(b.projectName, "en") || a.editorId.localeCompare(b.editorId, "en"),
  );
  return {
    editors: editors.map(({ profile, live, lastSeenAt, connected, isPaused, workload, diagnosis }) => ({
      id: profile.editorId,
      project: profile.projectName,
      project_path: profile.projectPath,
      unity_version: profile.unityVersion,
      pid: profile.pid,
      session: profile.editorSessionId,
      ...labelled(labelsOf(profile)),
      ...(profile.plain
        ? {
            bridge: `${profile.bridge ?? "plain"} (no ledger: a lost connection leaves the outcome unknown)`,
          }
        : {}),
      connected,
      ...(isPaused ? { paused: true } : {}),
      ...(profile.editorId === selected ? { selected: true } : {}),
      ...(connected && live
        ? {
            phase: live.phase,
            stall_ms: live.mainThreadStallMs,
            queued: live.queued,
            ...(live.memoryBytes === undefined ? {} : { memory_mb: Math.round(live.memoryBytes / 1e6) }),
            ...(live.cpuPercent === undefined ? {} : { cpu_percent: live.cpuPercent }),
          }
        : {}),
      ...(workload ? shownWorkload(workload) : {}),
      ...(lastSeenAt > 0
        ? { last_seen_seconds_ago: Math.max(0, Math.round((now - lastSeenAt) / 1000)) }
        : {}),
      ...(diagnosis ? { diagnosis: publicDiagnosis(diagnosis, principal) } : {}),
    })),
    ...(unfit ? { refuses_calls: { error_code: unfit.code, message: unfit.message } } : {}),
    ...(unreached.length > 0
      ? {
          unreached: unreached.map(({ editor, project, ...diagnosis }) => ({
            id: editor,
            project,
            diagnosis: publicDiagnosis(diagnosis, principal),
          })),
        }
      : {}),
    connected: editors.filter(({ connected }) => connected).length,
  };
}

/** Of another principal's operation only that it runs, and since when. */
function shownWorkload({ running, waiting }: Workload): Record<string, unknown> {
  if (!running) return { waiting };
  const { since, own } = running;
  const whose = own ? { tool: own.tool, log_id: own.logId } : {};
  return { running: { ...whose, since: new Date(since).toISOString() }, waiting };
}
