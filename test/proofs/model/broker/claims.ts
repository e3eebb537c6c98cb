/** The real changes that src/worker/execution/claims.ts makes of a record, without the store around them. */
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { Change } from "../../../../src/shared/store/operations/operation-store.js";
import { createClaims } from "../../../../src/worker/execution/claims.js";

type Claims = ReturnType<typeof createClaims>;
type ChangeOf = (record: OperationRecord, now: number) => Change | undefined;

let wanted: ChangeOf | undefined;
const claims = createClaims(
  {
    change: async (_logId, change) => {
      wanted = change;
      return { kind: "unknown" };
    },
  },
  { fence: "", importedIn: () => "" },
);

/** What this call would write. */
export function changeOf(call: (claims: Claims) => Promise<unknown>): ChangeOf {
  void call(claims);
  if (!wanted) throw new Error("it asked for no change");
  return wanted;
}
