/**
 * A gateway whose store is still being opened: a session begins without it, so that `initialize` waits for nothing, and the
 * first list of tools for a moment only.
 */
import { WAITS, type WaitLimits } from "../../../shared/wait-time.js";
import type { Broker } from "../../broker.js";
import { BROKER_TOOLS } from "../tools/broker-tools.js";
import type { ToolList } from "../tools/tool-list.js";

export interface ServedGateway {
  broker: Broker;
  toolList: ToolList;
}

/** How long a list of tools waits for the store, ms; then it has the broker's own. */
const LIST_WAIT_MS = 3_000;

/** The same gateway, usable before it is there: its verbs wait for it. */
export function createLateGateway(
  opening: Promise<ServedGateway>,
  { listWaitMs = LIST_WAIT_MS, waits = WAITS }: { listWaitMs?: number; waits?: WaitLimits } = {},
): ServedGateway {
  // Its starter reports why it failed; each verb rejects with the same reason.
  opening.catch(() => undefined);
  const broker = opening.then((served) => served.broker);
  const listeners = new Set<() => void>();
  let openList: ToolList | undefined;
  let wasMissed = false;
  opening.then(
    ({ toolList }) => {
      openList = toolList;
      toolList.onChange(() => {
        for (const listener of listeners) listener();
      });
      if (wasMissed) for (const listener of listeners) listener();
    },
    () => undefined,
  );
  return {
    broker: lateBroker(broker),
    toolList: {
      async current(principal) {
        let timer: NodeJS.Timeout | undefined;
        const tooLate = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, listWaitMs);
        });
        const first = openList ? opening : Promise.race([opening, tooLate]);
        const served = await first.finally(() => clearTimeout(timer));
        if (served) return served.toolList.current(principal);
        wasMissed = true;
        return [...BROKER_TOOLS.values()].map(({ described }) => described(waits));
      },
      hasSeveralEditors: () => openList?.hasSeveralEditors() ?? false,
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      // The list itself belongs to its maker.
      close: () => listeners.clear(),
    },
  };
}

/** Verbs whose answer is no promise: each must say what it does before the broker is there. */
type AnsweredAtOnce = {
  [Verb in keyof Broker]: Broker[Verb] extends (...args: never[]) => Promise<unknown> ? never : Verb;
}[keyof Broker];

function lateBroker(coming: Promise<Broker>): Broker {
  const atOnce: Pick<Broker, AnsweredAtOnce> = {
    results: late(coming.then(({ results }) => results)),
    operate: late(coming.then(({ operate }) => operate)),
    present(client) {
      let leave: () => void = nothing;
      let hasLeft = false;
      coming.then((broker) => {
        if (!hasLeft) leave = broker.present(client);
      }, nothing);
      return () => {
        hasLeft = true;
        leave();
      };
    },
  };
  const others = late(coming);
  return new Proxy(others, {
    get: (_, name) => (name in atOnce ? Reflect.get(atOnce, name) : Reflect.get(others, name)),
  });
}

const nothing = (): void => undefined;

type Verbs = Record<string | symbol, (...args: unknown[]) => Promise<unknown>>;

/** Calls each method, whose answer is a promise, once the object is there. */
function late<T extends object>(coming: Promise<T>): T {
  coming.catch(nothing);
  const call =
    (name: string | symbol) =>
    (...args: unknown[]): Promise<unknown> => {
      const answer = (coming as unknown as Promise<Verbs>).then((verbs) => verbs[name]?.(...args));
      // The caller that uses the answer sees the failure; an unused one must not end the process.
      answer.catch(() => undefined);
      return answer;
    };
  return new Proxy({} as T, { get: (_, name) => (name === "then" ? undefined : call(name)) });
}
