/** What operators do to Editors, and what is known of those that own them. */
import { type Candidate, isMember, labelsOf, ownLabels } from "../../shared/editors/target.js";
import { isFinal, type OperationRecord } from "../../shared/operation/operation.js";
import type { Owner } from "../../shared/store/editors/lease.js";
import type { Store } from "../../shared/store/store.js";
import { type Principals, permissionsOf } from "../auth/authenticator.js";
import { type ForgetDeps, type ForgetResult, forgetEditor } from "../editors/forget-editor.js";
import { type PauseDeps, pauseEditor, resumeEditor, runningIn } from "../editors/pause-editor.js";
import { operatorOf } from "./operations.js";

export interface ShownWorker {
  host: string;
  pid: number;
  version: string;
  editors: { id: string; connected: boolean }[];
}

export interface ShownWorkers {
  workers: ShownWorker[];
  /** Known, and owned by nobody. */
  unowned: string[];
}

export interface ShownPool {
  /** As a call names it. */
  pool: string;
  editors: { id: string; connected: boolean }[];
  /** Operations that no Editor has taken yet. */
  waiting: number;
}

/** Each throws FORBIDDEN without the role, and why no Editor is meant. */
export interface OperatorsEditors {
  /** It starts nothing new; what it runs goes on. */
  pause(asker: string, named: string): Promise<Candidate>;
  resume(asker: string, named: string): Promise<Candidate>;
  /** Pauses it, and answers what still runs there. */
  drain(asker: string, named: string): Promise<{ editor: Candidate; running: OperationRecord[] }>;
  /** It will not come back: its open operations end. `force`: even while its worker waits for it. */
  forget(asker: string, named: string, force: boolean): Promise<ForgetResult>;
  /** Of the Editors that the asker may use. */
  workers(asker: string): Promise<ShownWorkers>;
  pools(asker: string): Promise<ShownPool[]>;
}

export type OperatorsEditorsDeps = PauseDeps &
  ForgetDeps & {
    principals: Principals;
    owners: Store["owners"];
    /** The Editor that an asker means, among those that it may use. */
    editor(asker: string, named: string): Promise<Candidate>;
    /** Is this Editor connected? */
    connected(): Promise<ReadonlyMap<string, boolean>>;
  };

export function createOperatorsEditors(deps: OperatorsEditorsDeps): OperatorsEditors {
  const { principals, operations } = deps;

  /** Its id, if the asker may use it: by that the verbs find no other. */
  const meant = async (asker: string, named: string): Promise<string> => {
    await operatorOf(principals, asker);
    return (await deps.editor(asker, named)).id;
  };
  const pause: OperatorsEditors["pause"] = async (asker, named) =>
    pauseEditor(deps, await meant(asker, named));

  return {
    pause,
    resume: async (asker, named) => resumeEditor(deps, await meant(asker, named)),
    async drain(asker, named) {
      const editor = await pause(asker, named);
      const running = await runningIn(deps, editor.id);
      return { editor, running: running.filter(({ state }) => !isFinal(state)) };
    },
    async forget(asker, named, force) {
      const { seesAll } = await operatorOf(principals, asker);
      // One that is only missing after a loss of the store is no call's target, and can be forgotten all the same.
      return forgetEditor(deps, seesAll ? named : await meant(asker, named), { force });
    },
    async workers(asker) {
      const { sees } = await permissionsOf(principals, asker);
      return workersOf(deps, sees);
    },
    async pools(asker) {
      const { sees, seesAll } = await permissionsOf(principals, asker);
      const [known, connected, used] = await Promise.all([
        deps.editors.availability(),
        deps.connected(),
        deps.pools.ids(),
      ]);
      const editors = known
        .filter(({ id }) => sees(id))
        .map(({ id, profile }) => ({ id, labels: profile ? labelsOf(profile) : [] }));
      const ofLabels = editors.flatMap(({ labels }) => ownLabels(labels).map((label) => `pool:${label}`));
      const pools = [...new Set([...ofLabels, ...used])].sort();
      const shown = await Promise.all(
        pools.map(async (pool) => ({
          pool,
          editors: editors
            .filter(({ labels }) => isMember(pool, labels))
            .map(({ id }) => ({ id, connected: connected.get(id) === true })),
          waiting: (await operations.openOf(pool)).length,
        })),
      );
      return shown.filter(({ editors: members }) => seesAll || members.length > 0);
    },
  };
}

/** Which workers own the known Editors, where they run, and in which version. */
export async function workersOf(
  { editors, owners }: Pick<Store, "editors" | "owners">,
  sees: (editorId: string) => boolean = () => true,
): Promise<ShownWorkers> {
  const known = (await editors.availability()).filter(({ id }) => sees(id));
  const connected = new Set(known.flatMap(({ id, connected }) => (connected ? [id] : [])));
  const owned = await owners.of(known.map(({ id }) => id));
  const workers = new Map<string, ShownWorker>();
  for (const owner of owned) {
    const worker = workers.get(nameOf(owner)) ?? { ...describe(owner), editors: [] };
    worker.editors.push({ id: owner.editor, connected: connected.has(owner.editor) });
    workers.set(nameOf(owner), worker);
  }
  const ids = new Set(owned.map(({ editor }) => editor));
  return { workers: [...workers.values()], unowned: known.map(({ id }) => id).filter((id) => !ids.has(id)) };
}

const nameOf = ({ host, pid }: Owner): string => `${host} ${pid}`;

const describe = ({ host = "unknown", pid = 0, version = "unknown" }: Owner) => ({ host, pid, version });
