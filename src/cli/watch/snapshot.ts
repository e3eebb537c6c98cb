/** What `watch` looks at, and what differs from one look to the next. */
import type { Answer } from "../../shared/operation/answer.js";
import type { ShownEditor } from "../client/render.js";

export interface Snapshot {
  editors: readonly ShownEditor[];
  /** Newest first; those that have not ended with their progress. */
  operations: readonly Answer[];
  /** Why the last look failed; what is shown is older. */
  trouble?: string | undefined;
}

export interface Change {
  what: "editor" | "operation" | "broker";
  /** An Editor's id, or a log_id. */
  id: string;
  from: string | undefined;
  to: string;
  /** The tool and its Editor. */
  about?: string;
}

export function isOpen({ state }: Answer): boolean {
  return state === "queued" || state === "dispatched" || state === "running";
}

/** `before`: undefined at the first look, which tells only what is open. */
export function changesBetween(before: Snapshot | undefined, after: Snapshot): Change[] {
  const changes: Change[] = [];
  if (after.trouble !== before?.trouble && (after.trouble ?? before?.trouble) !== undefined)
    changes.push({
      what: "broker",
      id: "broker",
      from: before?.trouble,
      to: after.trouble ?? "answers again",
    });
  const knownEditors = new Map(before?.editors.map((editor) => [editor.id, conditionOf(editor)]));
  for (const editor of after.editors) {
    const [from, to] = [knownEditors.get(editor.id), conditionOf(editor)];
    if (from !== to) changes.push({ what: "editor", id: editor.id, from, to });
    knownEditors.delete(editor.id);
  }
  if (!after.trouble)
    for (const [id, from] of knownEditors) changes.push({ what: "editor", id, from, to: "forgotten" });
  const known = new Map(before?.operations.map(({ log_id, state }) => [log_id, state]));
  // As they were accepted.
  for (const operation of [...after.operations].reverse()) {
    const { log_id: id = "", state: to = "", tool = "", editor = "" } = operation;
    const from = known.get(id);
    if (from === to || (!before && !isOpen(operation))) continue;
    changes.push({ what: "operation", id, from, to, about: `${tool}  ${editor}` });
  }
  return changes;
}

function conditionOf({ connected, paused, phase }: ShownEditor): string {
  return `${connected ? (phase ?? "connected") : "away"}${paused ? ", paused" : ""}`;
}
