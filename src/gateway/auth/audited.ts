/** The verbs with effects, recorded in the audit log with their answers. */
import { storeFault } from "../../shared/store/connect.js";
import type { Broker } from "../broker.js";
import type { Audit, AuditEntry } from "./audit.js";
import type { Principals } from "./authenticator.js";

export function audited(broker: Broker, principals: Principals, audit: Audit): Broker {
  const note = async (id: string, entry: Omit<AuditEntry, "principal" | "name">): Promise<void> => {
    const found = await principals.find(id).catch(() => undefined);
    audit.note({ principal: id, name: found?.name ?? "", ...entry });
  };
  const codeOf = (error: unknown): string => storeFault(error)?.code ?? "INTERNAL";

  /** What an operator does to an Editor. */
  const noted = async <T extends { id: string } | { editor: { id: string } }>(
    verb: "pause" | "resume" | "forget",
    asker: string,
    named: string,
    act: () => Promise<T>,
  ): Promise<T> => {
    try {
      const done = await act();
      const { id: editor } = "editor" in done ? done.editor : done;
      await note(asker, { verb, editor, answer: "accepted" });
      return done;
    } catch (error) {
      const editor = printableName(named);
      await note(asker, { verb, editor, answer: "refused", error_code: codeOf(error) });
      throw error;
    }
  };

  return {
    ...broker,

    async submit(call) {
      const { principal, tool: named } = call;
      const tool = printableName(named);
      try {
        const submission = await broker.submit(call);
        const { logId, editor } = submission.record;
        await note(principal, { verb: "call", tool, editor, log_id: logId, answer: submission.relation });
        return submission;
      } catch (error) {
        await note(principal, { verb: "call", tool, answer: "refused", error_code: codeOf(error) });
        throw error;
      }
    },

    async cancel(principal, logId, caller) {
      const seen = await broker.cancel(principal, logId, caller);
      const known = typeof seen === "object" ? { tool: seen.record.tool, editor: seen.record.editor } : {};
      const answer = typeof seen === "object" ? "accepted" : "refused";
      await note(principal, { verb: "cancel", ...known, log_id: printableName(logId), answer });
      return seen;
    },

    operate: {
      ...broker.operate,

      async cancel(asker, logId) {
        const seen = await broker.operate.cancel(asker, logId);
        const log_id = printableName(logId);
        if (typeof seen === "object") {
          const { tool, editor, principal: of } = seen.record;
          await note(asker, { verb: "cancel", tool, editor, log_id, of, answer: "accepted" });
        } else await note(asker, { verb: "cancel", log_id, answer: "refused" });
        return seen;
      },

      pause: (asker, named) => noted("pause", asker, named, () => broker.operate.pause(asker, named)),
      resume: (asker, named) => noted("resume", asker, named, () => broker.operate.resume(asker, named)),
      drain: (asker, named) => noted("pause", asker, named, () => broker.operate.drain(asker, named)),
      forget: (asker, named, force) =>
        noted("forget", asker, named, () => broker.operate.forget(asker, named, force)),
    },
  };
}

/** The caller's text, reduced to the characters of a tool name or an id. */
function printableName(text: string): string {
  return text.slice(0, MOST_NAME).replace(/[^\w./@ -]/g, "?");
}

const MOST_NAME = 100;
