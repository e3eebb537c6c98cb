/** The real changes that src/worker/execution/claims.ts makes of a record, without the store around them. */
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { Change } from "../../../../src/shared/store/operations/record.js";
import { createClaims } from "../../../../src/worker/execution/claims.js";
import type { WorkerState } from "../state/state.js";

type Claims = ReturnType<typeof createClaims>;
type ChangeOf = (record: OperationRecord, now: number) => Change | undefined;

let wanted: ChangeOf | undefined;
let owned = "";
let imported = "";
const claims = createClaims(
  {
    change: async (_logId, change) => {
      wanted = change;
      return { kind: "unknown" };
    },
  },
  {
    get editorId() {
      return owned;
    },
    fence: "",
    importedIn: () => imported,
  },
);

/** What this call of an Editor's owner would write. */
export function changeOf(
  { editor, importedIn }: Pick<WorkerState, "editor" | "importedIn">,
  call: (claims: Claims) => Promise<unknown>,
): ChangeOf {
  void call(claims);
  const change = wanted;
  if (!change) throw new Error("it asked for no change");
  return (record, now) => {
    owned = editor;
    imported = importedIn ?? "";
    return change(record, now);
  };
}
