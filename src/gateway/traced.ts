/** The verbs that make and follow an operation, as spans of the trace that their call belongs to. */
import type { OperationRecord } from "../shared/operation/operation.js";
import { inSpan } from "../shared/traces.js";
import type { Broker } from "./broker.js";

export function traced(broker: Broker): Broker {
  return {
    ...broker,

    submit: (call) =>
      inSpan(
        "submit",
        {
          parent: call.trace,
          kind: "producer",
          attributes: { "unity_broker.tool": call.tool, "unity_broker.principal": call.principal },
        },
        async (span) => {
          const submission = await broker.submit({ ...call, trace: span.context });
          const { record, relation } = submission;
          span.set({ ...attributesOf(record), "unity_broker.relation": relation });
          if (relation !== "created") span.link(record.trace);
          return submission;
        },
      ),

    wait(principal, logId, wait) {
      if (wait.trace === undefined) return broker.wait(principal, logId, wait);
      const about = { parent: wait.trace, attributes: { "unity_broker.log_id": logId } };
      return inSpan("wait", about, async (span) => {
        const seen = await broker.wait(principal, logId, wait);
        if (typeof seen === "object") span.set({ "unity_broker.state": seen.record.state });
        return seen;
      });
    },
  };
}

function attributesOf({ logId, editor }: OperationRecord) {
  return { "unity_broker.log_id": logId, "unity_broker.editor": editor };
}
