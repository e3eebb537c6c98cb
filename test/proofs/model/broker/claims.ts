/** The real changes that src/worker/execution/claims.ts makes of a record, without the store around them. */
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { Change } from "../../../../src/shared/store/operations/operation-store.js";
import { createClaims } from "../../../../src/worker/execution/claims.js";

type Claims = ReturnType<typeof createClaims>;
type ChangeOf = (record: OperationRecord, now: number) => Change | undefined;

let wanted: ChangeOf | undefined;
let owned = "";
const claims = createClaims(
  {
    change: async (_logId, change) => {
      wanted = change;
      return { kind: "unknown" };
    },
  },
  {
    // The worker that asks owns the Editor.
    get editorId() {
      return owned;
    },
    fence: "",
    importedIn: () => "",
  },
);

/** What this call would write. */
export function changeOf(call: (claims: Claims) => Promise<unknown>): ChangeOf {
  void call(claims);
  const change = wanted;
  if (!change) throw new Error("it asked for no change");
  return (record, now) => {
    owned = record.editor;
    return change(record, now);
  };
}
