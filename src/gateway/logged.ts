/** The verbs that make and cancel an operation, as lines of the log, for a person who follows one by its log_id. */

import { fieldsOf, type Log } from "../shared/log.js";
import { shortened } from "../shared/shortened-text.js";
import { storeFault } from "../shared/store/connect.js";
import type { Broker } from "./broker.js";

/** A client may call any text. */
const LONGEST_NAME = 128;

export function logged(broker: Broker, log: Log): Broker {
  return {
    ...broker,

    async submit(call) {
      try {
        const submission = await broker.submit(call);
        const { record, relation } = submission;
        log.debug({ ...fieldsOf(record), tool: record.tool, relation }, "a call was accepted");
        return submission;
      } catch (error) {
        const { principal, tool } = call;
        const code = storeFault(error)?.code ?? "INTERNAL";
        log.debug({ principal, tool: shortened(tool, LONGEST_NAME), error_code: code }, "a call was refused");
        throw error;
      }
    },

    async cancel(principal, logId, caller) {
      const seen = await broker.cancel(principal, logId, caller);
      if (typeof seen === "object")
        log.debug({ ...fieldsOf(seen.record), state: seen.record.state }, "a cancellation was asked for");
      return seen;
    },
  };
}
