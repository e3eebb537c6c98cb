/** Which of the operations that run is the one that an Editor is said to run. Pure. */
import type { Editor, Row } from "../model.js";

/**
 * The Editor with what the list of operations knows: the tool, the log_id and the principal of another's operation, to
 * operators, and the progress.
 * An Editor may run several, in the background too: of another's its row says only since when it runs.
 */
export function withRunning(editor: Editor, rows: readonly Row[]): Editor {
  const { running } = editor;
  if (!running) return editor;
  const row = rows.find(
    ({ log_id, editor: at, started_at, sent_at }) =>
      at === editor.id &&
      (running.log_id === undefined
        ? [started_at, sent_at].includes(running.since)
        : log_id === running.log_id),
  );
  if (!row) return editor;
  const { tool, log_id, progress, principal, principal_name } = row;
  return { ...editor, running: { ...running, tool, log_id, progress, principal, principal_name } };
}
