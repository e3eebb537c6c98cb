/** The Editor as the life of an operation sees it (process-deps.ts), over the link of the moment. */
import type { EditorFence } from "../shared/redis/lease.js";
import { ConnectionLost } from "./disconnect.js";
import type { EditorLink } from "./editor-link.js";
import type { Follows } from "./follows.js";
import { storedResultOf } from "./large-result.js";
import type { Presence } from "./presence.js";
import type { EditorPort } from "./process-deps.js";
import { isLeaving, refusalOf } from "./refusal.js";

export function createEditorPort(
  {
    link,
    follows,
    presence,
    fence,
  }: {
    link: EditorLink;
    follows: Pick<Follows, "follow">;
    presence: Pick<Presence, "mark">;
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
    follow: follows.follow,
    mark: presence.mark,
  };
}
