/** The evidence kept for an unknown outcome: the Editor's last signs of life, and the end of its own log. */
import type { Evidence, OperationRecord } from "../../../shared/operation/operation.js";
import { LOOPBACK } from "../../discovery/endpoint-folder.js";
import type { EditorLink } from "../../editor/editor-link.js";
import type { HeartbeatRecorder } from "../heartbeat.js";
import { endOfLog } from "./editor-log.js";
import type { LogPlaces } from "./log-places.js";

export function createEvidence(deps: {
  link: Pick<EditorLink, "hello">;
  heartbeat: Pick<HeartbeatRecorder, "lastSigns">;
  host: string;
  /** From the endpoint file, because hello would be the Editor's own claim. */
  projectPath(): string | undefined;
  logPlaces: LogPlaces;
}): (record: OperationRecord) => Promise<Evidence> {
  return async (record) => {
    const { logFile, editorSessionId } = deps.link.hello ?? {};
    const signs = deps.heartbeat.lastSigns(record);
    // The log of an Editor on another machine is not here.
    if (logFile === undefined || !LOOPBACK.has(deps.host)) return signs;
    const ended = record.sentIn !== editorSessionId;
    const editorLog = await endOfLog(logFile, ended, deps.logPlaces, deps.projectPath());
    return editorLog ? { ...signs, editorLog } : signs;
  };
}
