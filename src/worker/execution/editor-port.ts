/** The Editor as the executor sees it (executor-deps.ts), over the present link. */
import type { EditorFence } from "../../shared/store/editors/lease.js";
import type { EditorLink } from "../editor/editor-link.js";
import { isLeaving, refusalOf } from "../editor/refusal.js";
import type { HeartbeatRecorder } from "../owner/heartbeat.js";
import { ConnectionLost } from "../transport/disconnect.js";
import type { EditorPort } from "./executor-deps.js";
import { storedResultOf } from "./large-result.js";
import type { OutcomeListeners } from "./outcome-listeners.js";

export function createEditorPort(
  {
    link,
    outcomeListeners,
    heartbeat,
    fence,
  }: {
    link: EditorLink;
    outcomeListeners: Pick<OutcomeListeners, "follow">;
    heartbeat: Pick<HeartbeatRecorder, "mark">;
    fence(): EditorFence;
  },
  { maxResultBytes }: { maxResultBytes: number },
): EditorPort {
  return {
    ready: (signal) => link.whenReady(signal),
    session: () => (link.state === "ready" ? link.hello?.editorSessionId : undefined),
    submit: (params) => link.submit({ ...params, ...fence(), ledgerId: link.hello?.ledgerId ?? "" }),
    get: (operationId) => link.get(operationId),
    revoke: (operationId) => link.revoke(operationId),
    result: (operationId, outcome) => storedResultOf(link, operationId, outcome, maxResultBytes),
    refusal: refusalOf,
    wasSent: (error) => !(error instanceof ConnectionLost) || error.sent,
    isLeaving,
    follow: outcomeListeners.follow,
    mark: heartbeat.mark,
  };
}
