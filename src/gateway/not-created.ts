/** A limit kept the store from creating an operation: what its caller is answered. */
import { isPool } from "../shared/editors/pool.js";
import { BrokerError } from "../shared/errors.js";
import type { Created } from "../shared/store/operations/changes.js";
import type { RecordedDuration } from "../shared/store/operations/listings.js";

/** When nothing is known of the tool, and at most, s. */
const RETRY_S = 10;
const LONGEST_RETRY_S = 300;

/** `recorded`: how long the tool's recent calls took. Undefined: no limit; it is decided again. */
export async function notCreated(
  kind: Exclude<Created["kind"], "created">,
  editor: string,
  recorded: () => Promise<readonly RecordedDuration[]>,
): Promise<BrokerError | undefined> {
  switch (kind) {
    case "too_many":
      return new BrokerError("TOO_MANY_OPERATIONS", "Your limit on waiting operations is reached.");
    case "queue_full": {
      const usualMs = usualTime(await recorded(), editor) ?? RETRY_S * 1_000;
      const seconds = Math.max(1, Math.min(LONGEST_RETRY_S, Math.ceil(usualMs / 1_000)));
      const whose = isPool(editor) ? `The pool ${editor}` : `The Editor ${editor}`;
      return new BrokerError("QUEUE_FULL", `${whose} has as many operations waiting as it may.`, {
        retry_after_seconds: seconds,
      });
    }
    case "full":
      return new BrokerError("STORE_FULL", "The budget for stored results or arguments is used up.");
    case "conflict":
      return undefined;
  }
}

/** The median of what it took there, else anywhere; undefined if it is not known to have run. */
export function usualTime(recorded: readonly RecordedDuration[], editor: string): number | undefined {
  const there = recorded.filter((each) => each.editor === editor);
  const sorted = (there.length > 0 ? there : recorded).map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
