/**
 * Delivered, read, owed: who asked for an outcome, who has it, and who has read it. Each function answers the changed record,
 * or undefined where nothing changes. Nothing is taken back but by `undelivered`.
 */
import { type Asking, type Caller, type OperationRecord, SINGLE_REQUEST } from "./operation.js";

/** Most callers that a record names. */
const MOST_ASKERS = 100;

/** Stands for the callers beyond: they asked, and nobody knows whether they have read. */
const OTHERS = "";

/** How far this caller has come; undefined: it has neither asked for the outcome nor received it. */
export function askingOf(record: OperationRecord, { id }: Pick<Caller, "id">): Asking | undefined {
  return record.askers?.[id] ?? (record.createdBy.caller === id ? {} : undefined);
}

/** Is there a caller that asked for the outcome and has not read it? */
export function isOwed({ createdBy, askers = {} }: OperationRecord): boolean {
  const creator = createdBy.caller ?? OTHERS;
  return !askers[creator]?.hasRead || Object.values(askers).some(({ hasRead }) => !hasRead);
}

/** The caller waits for the outcome, or is about to be answered with it. */
export function asked(record: OperationRecord, caller: Pick<Caller, "id">): OperationRecord | undefined {
  const before = askingOf(record, caller);
  return before && before.askedAt === undefined ? undefined : withAsking(record, caller, {});
}

/** This operation answers for `other` (▲10 b): who asked for that outcome has asked for this one. */
export function askedThrough(
  record: OperationRecord,
  { createdBy, askers }: OperationRecord,
): OperationRecord | undefined {
  let changed: OperationRecord | undefined;
  for (const id of Object.keys({ [createdBy.caller ?? OTHERS]: {}, ...askers }))
    changed = asked(changed ?? record, { id }) ?? changed;
  return changed;
}

/** An answer with the outcome was delivered to a request of this caller; `isRead`: so that it has read it. */
export function delivered(
  record: OperationRecord,
  caller: Caller,
  { now, isRead }: { now: number; isRead: boolean },
): OperationRecord | undefined {
  const before = askingOf(record, caller) ?? {};
  if (before.deliveredAt !== undefined && (before.hasRead || !isRead)) return undefined;
  const { deliveredAt = now } = before;
  const asking: Asking = { deliveredAt, ...(isRead || before.hasRead ? { hasRead: true } : {}) };
  return { ...withAsking(record, caller, asking), firstDeliveredAt: record.firstDeliveredAt ?? now };
}

/** The caller named the log_id: it has read what was delivered to it before. */
export function named(record: OperationRecord, caller: Caller): OperationRecord | undefined {
  const before = askingOf(record, caller);
  if (before?.deliveredAt === undefined || before.hasRead) return undefined;
  return withAsking(record, caller, { ...before, hasRead: true });
}

/** The connection was reset before the caller can have read its answer: it asked, and never got the outcome. */
export function undelivered(record: OperationRecord, caller: Caller): OperationRecord | undefined {
  if (askingOf(record, caller)?.deliveredAt === undefined) return undefined;
  const { firstDeliveredAt: _taken, ...left } = withAsking(record, caller, {});
  const times = Object.values(left.askers ?? {}).flatMap(({ deliveredAt }) => deliveredAt ?? []);
  return times.length === 0 ? left : { ...left, firstDeliveredAt: Math.min(...times) };
}

/** The caller cancelled its request for this run of a repeatable tool: it wants another one. */
export function givenUp(record: OperationRecord, caller: Caller): OperationRecord | undefined {
  const { effect, givenUpBy = [] } = record;
  if (effect !== "repeatable" || givenUpBy.includes(caller.id)) return undefined;
  return { ...record, givenUpBy: [...givenUpBy, caller.id].slice(-MOST_ASKERS) };
}

/**
 * Who has not read the outcome of this operation as its caller runs it again, and may come back for it within `windowMs`: the new
 * outcome is owed to them as well. An outcome that nobody has got yet, they may come back for from now on.
 */
export function stillOwed(
  { createdBy, askers, firstDeliveredAt }: OperationRecord,
  caller: Caller,
  { now, windowMs }: { now: number; windowMs: number },
): Record<string, Asking> {
  const all: Record<string, Asking> = { ...(createdBy.caller ? { [createdBy.caller]: {} } : {}), ...askers };
  return Object.fromEntries(
    Object.entries(all).flatMap(([id, { askedAt, deliveredAt, hasRead }]) => {
      const since = askedAt ?? deliveredAt ?? firstDeliveredAt ?? now;
      const mayComeBack = id !== caller.id && now - since < windowMs;
      return !hasRead && mayComeBack ? [[id, { askedAt: since }]] : [];
    }),
  );
}

function withAsking(record: OperationRecord, { id }: Pick<Caller, "id">, asking: Asking): OperationRecord {
  const askers: Record<string, Asking> = { ...record.askers, [id]: asking };
  const excess = Object.keys(askers).length - MOST_ASKERS;
  if (excess <= 0) return { ...record, askers };
  // A caller that has read may be forgotten; it would be one that never asked. A debt may not.
  const lasting = [id, OTHERS, record.createdBy.caller];
  const others = Object.keys(askers).filter((each) => !lasting.includes(each));
  const [gone = OTHERS] = [
    ...others.filter((each) => askers[each]?.hasRead),
    // Nobody comes back as the caller of a single request.
    ...others.filter((each) => each.startsWith(SINGLE_REQUEST)),
    ...others,
  ];
  const { [gone]: forgotten, ...kept } = askers;
  return { ...record, askers: forgotten?.hasRead ? kept : { ...kept, [OTHERS]: {} } };
}
