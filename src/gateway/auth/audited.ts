/** The verbs with effects, recorded in the audit log with their answers. */
import { BrokerError } from "../../shared/errors.js";
import type { Broker } from "../broker.js";
import type { Audit, AuditEntry } from "./audit.js";
import type { Principals } from "./authenticator.js";

export function audited(broker: Broker, principals: Principals, audit: Audit): Broker {
  const note = async (id: string, entry: Omit<AuditEntry, "principal" | "name">): Promise<void> => {
    const found = await principals.find(id).catch(() => undefined);
    audit.note({ principal: id, name: found?.name ?? "", ...entry });
  };
  const codeOf = (error: unknown): string => (error instanceof BrokerError ? error.code : "INTERNAL");

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

    async cancel(principal, logId, requester) {
      const seen = await broker.cancel(principal, logId, requester);
      const known = typeof seen === "object" ? { tool: seen.record.tool, editor: seen.record.editor } : {};
      const answer = typeof seen === "object" ? "accepted" : "refused";
      await note(principal, { verb: "cancel", ...known, log_id: printableName(logId), answer });
      return seen;
    },
  };
}

/** The caller's text, reduced to the characters of a tool name or an id. */
function printableName(text: string): string {
  return text.slice(0, MOST_NAME).replace(/[^\w./@ -]/g, "?");
}

const MOST_NAME = 100;
