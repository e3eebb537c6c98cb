/** The spans of an operation's way through its owner and its Editor; they belong to the span that made the operation. */
import type { OperationRecord } from "../../shared/operation/operation.js";
import { inSpan, startSpan, type TraceContext } from "../../shared/traces.js";
import type { Outcome } from "../../shared/wire/wire.js";

/** One attempt of this owner. `isFresh`: it begins with the end of the wait in the queue, which is a span as well. */
export function inExecutionSpan<Subject extends { record: OperationRecord }, T>(
  subject: Subject,
  isFresh: boolean,
  attempt: (subject: Subject & { trace: TraceContext | undefined }) => Promise<T>,
): Promise<T> {
  const { record } = subject;
  const parent = record.trace;
  const { acceptedAt, dispatchedAt = acceptedAt } = record;
  if (isFresh)
    startSpan("queue", { parent, startedAt: acceptedAt, attributes: of(record) }).end({ at: dispatchedAt });
  const about = { parent, kind: "consumer", attributes: of(record) } as const;
  return inSpan("execute", about, (span) => attempt({ ...subject, trace: span.context }));
}

/** What the Editor did, by the times that it reports. */
export function traceExecution(
  record: OperationRecord,
  { status, startedAt, endedAt, executionMs }: Outcome,
  parent: TraceContext | undefined,
): void {
  if (startedAt === undefined) return;
  const attributes = {
    ...of(record),
    "unity_broker.outcome": status,
    ...(executionMs === undefined ? {} : { "unity_broker.execution_ms": executionMs }),
  };
  const span = startSpan("run in Unity", { parent, startedAt, attributes });
  span.end({
    at: Math.max(startedAt, endedAt),
    ...(status === "completed" ? {} : { error: { code: status } }),
  });
}

function of({ logId, tool, editor, principal }: OperationRecord) {
  return {
    "unity_broker.log_id": logId,
    "unity_broker.tool": tool,
    "unity_broker.editor": editor,
    "unity_broker.principal": principal,
  };
}
