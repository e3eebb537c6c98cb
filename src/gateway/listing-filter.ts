/** Which operations a list shows, by what its reader asks for. */
import { didYouMean, isFor, poolIn, type Target } from "../shared/editors/target.js";
import { BrokerError } from "../shared/errors.js";
import { type OperationRecord, STATES } from "../shared/operation/operation.js";
import { head } from "../shared/printable.js";

export interface ListingFilter {
  /** Several with commas between them. */
  state?: string | undefined;
  tool?: string | undefined;
  /** As a call names it, also if no such Editor is known any more. */
  editor?: string | undefined;
  /** What the calling client calls itself, or its beginning. */
  client?: string | undefined;
  /** A text that its log_id, tool, Editor, client or error has, in any case. */
  q?: string | undefined;
}

/** Throws INVALID_ARGUMENTS. */
export function wantedBy(filter: ListingFilter): (record: OperationRecord) => boolean {
  const { client } = filter;
  const matches = entryWantedBy(filter);
  const q = filter.q?.toLowerCase();
  return (record) =>
    matches(record) &&
    (client === undefined || record.createdBy.client?.startsWith(client) === true) &&
    (q === undefined || textsOf(record).some((text) => text?.toLowerCase().includes(q)));
}

/** The same by what an event says of its operation. Throws INVALID_ARGUMENTS. */
export function entryWantedBy({
  state,
  tool,
  editor,
}: Pick<ListingFilter, "state" | "tool" | "editor">): (
  of: Pick<OperationRecord, "state" | "tool" | "editor"> & { pool?: string },
) => boolean {
  const states = state?.split(",");
  const wrong = states?.find((each) => !(STATES as readonly string[]).includes(each));
  if (wrong !== undefined)
    throw new BrokerError(
      "INVALID_ARGUMENTS",
      `There is no state ${JSON.stringify(head(wrong, 50))}${didYouMean(wrong, STATES)}. The states are ${STATES.join(", ")}.`,
    );
  const target = editor === undefined ? undefined : targetOf(editor);
  return (of) =>
    (states === undefined || states.includes(of.state)) &&
    (tool === undefined || of.tool === tool) &&
    (target === undefined || isFor(target, of));
}

function textsOf({ logId, tool, editor, pool, createdBy, error }: OperationRecord): (string | undefined)[] {
  return [logId, tool, editor, pool, createdBy.client, error?.code, error?.message];
}

function targetOf(named: string): Target {
  const pool = poolIn(named);
  return pool === undefined ? { kind: "named", editor: named, isUnknown: true } : { kind: "pool", pool };
}
