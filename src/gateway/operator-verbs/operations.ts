/** Operations as lists show them, also everybody's: for operators, who see what happened and not what was passed or came back. */
import { isPool } from "../../shared/editors/target.js";
import { BrokerError } from "../../shared/errors.js";
import type { OperationView } from "../../shared/operation/answer.js";
import { isSent, type OperationRecord } from "../../shared/operation/operation.js";
import { hasRole } from "../../shared/principal.js";
import type { ListCursor } from "../../shared/store/operations/all-operations.js";
import type { Store } from "../../shared/store/store.js";
import { type Permissions, type Principals, permissionsOf } from "../auth/authenticator.js";
import type { Cancel } from "../cancel.js";
import { type Explained, explained, type Views } from "../views.js";

export interface ListedOperation {
  view: OperationView;
  /** How many calls found it instead of making another; at most 100 are counted. */
  duplicates: number;
}

export interface ListRequest {
  /** Whose: left out, the asker's own; "*": everybody's. */
  principal?: string | undefined;
  isWanted(record: OperationRecord): boolean;
  since?: number | undefined;
  until?: number | undefined;
  limit: number;
  cursor?: ListCursor | undefined;
}

export interface ListedPage {
  operations: ListedOperation[];
  /** Absent: there are no more. */
  next?: ListCursor | undefined;
  searched: number;
}

type Seen<T> = Promise<T | "retention_ended" | undefined>;

/** The asker is named by its principal id. Of another principal's operation an asker without the role learns nothing. */
export interface OperatorsOperations {
  /** Newest first. Throws FORBIDDEN for others' operations without the role. */
  list(asker: string, wanted: ListRequest): Promise<ListedPage>;
  /** Without arguments, result, and what it reports. */
  read(asker: string, logId: string): Seen<OperationView>;
  explain(asker: string, logId: string): Seen<Explained>;
  /** As `cancel` of the broker does. */
  cancel(asker: string, logId: string): Seen<OperationView>;
}

export interface OperatorsOperationsDeps extends Pick<Views, "briefViewOf"> {
  operations: Store["operations"];
  allOperations: Store["allOperations"];
  principals: Principals;
  cancel: Cancel;
}

/** Throws FORBIDDEN. */
export async function operatorOf(principals: Principals, asker: string): Promise<Permissions> {
  const permissions = await permissionsOf(principals, asker);
  if (hasRole(permissions.principal, "operate")) return permissions;
  throw new BrokerError("FORBIDDEN", 'This is for operators: it requires the role "operate".');
}

export function createOperatorsOperations(deps: OperatorsOperationsDeps): OperatorsOperations {
  const { operations, principals, briefViewOf } = deps;

  /** An Editor that it may not use is unknown to it, and so is what ran there for others. */
  const mayShow =
    (asker: string, { sees, seesAll }: Permissions) =>
    (record: OperationRecord) =>
      record.principal === asker || seesAll || (!isPool(record.editor) && sees(record.editor));

  /** Invariant 8: undefined also for those whose asker has no right to it. */
  const visible = async (asker: string, logId: string): Promise<OperationRecord | undefined> => {
    const permissions = await permissionsOf(principals, asker);
    if (!hasRole(permissions.principal, "operate")) return undefined;
    const record = await operations.find(logId);
    return record && mayShow(asker, permissions)(record) ? record : undefined;
  };

  const listed = async (record: OperationRecord): Promise<ListedOperation[]> => {
    const [view, live, duplicates] = await Promise.all([
      briefViewOf(record),
      isSent(record.state) ? operations.live(record.executedAs ?? record.logId) : undefined,
      operations.duplicatesOf(record.logId),
    ]);
    if (view === "retention_ended") return [];
    return [{ view: { ...view, progress: live?.progress }, duplicates: duplicates.length }];
  };

  return {
    async list(asker, { principal: whose = asker, isWanted, ...search }) {
      const permissions = await (whose === asker ? permissionsOf : operatorOf)(principals, asker);
      const isShown = mayShow(asker, permissions);
      const found = await deps.allOperations.search({
        ...search,
        ...(whose === "*" ? {} : { principals: [whose] }),
        isWanted: (record) => isShown(record) && isWanted(record),
      });
      const rows = await Promise.all(found.records.map(listed));
      return { operations: rows.flat(), next: found.next, searched: found.searched };
    },

    async read(asker, logId) {
      const record = await visible(asker, logId);
      return record && briefViewOf(record);
    },

    async explain(asker, logId) {
      const record = await visible(asker, logId);
      return record && explained(operations, record);
    },

    async cancel(asker, logId) {
      const record = await visible(asker, logId);
      if (!record) return undefined;
      const { principal } = await permissionsOf(principals, asker);
      const caller = { id: `operator:${principal.name}`, transport: "http" } as const;
      const seen = await deps.cancel(record.principal, logId, caller);
      if (typeof seen !== "object") return seen;
      return briefViewOf((await operations.find(logId)) ?? seen.record);
    },
  };
}
