/**
 * A gateway whose store is still being opened: a session begins without it, so that `initialize` waits for nothing, and the
 * first list of tools for a moment only.
 */
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
  { listWaitMs } = { listWaitMs: LIST_WAIT_MS },
): ServedGateway {
  // Whoever started it says why it failed; each verb rejects with the same.
  opening.catch(() => undefined);
  const broker = late(opening.then((served) => served.broker));
  const results = late(opening.then((served) => served.broker.results));
  const listeners = new Set<() => void>();
  let isOpen = false;
  let wasMissed = false;
  opening.then(
    ({ toolList }) => {
      isOpen = true;
      toolList.onChange(() => {
        for (const listener of listeners) listener();
      });
      if (wasMissed) for (const listener of listeners) listener();
    },
    () => undefined,
  );
  return {
    broker: new Proxy(broker, {
      get: (verbs, name) => (name === "results" ? results : Reflect.get(verbs, name)),
    }),
    toolList: {
      async current(principal) {
        let timer: NodeJS.Timeout | undefined;
        const tooLate = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, listWaitMs);
        });
        const served = isOpen ? await opening : await Promise.race([opening, tooLate]);
        clearTimeout(timer);
        if (served) return served.toolList.current(principal);
        wasMissed = true;
        return [...BROKER_TOOLS.values()].map(({ described }) => described);
      },
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      // The list itself belongs to whoever made it.
      close: () => listeners.clear(),
    },
  };
}

type Verbs = Record<string | symbol, (...args: unknown[]) => unknown>;

/** Calls each method once the object is there. Only for methods whose answer is a promise, or whose answer nobody uses. */
function late<T extends object>(coming: Promise<T>): T {
  coming.catch(() => undefined);
  const call =
    (name: string | symbol) =>
    (...args: unknown[]): Promise<unknown> => {
      const answer = (coming as unknown as Promise<Verbs>).then((verbs) => verbs[name]?.(...args));
      // Whoever uses the answer sees the failure; where nobody does, it must not end the process.
      answer.catch(() => undefined);
      return answer;
    };
  return new Proxy({} as T, { get: (_, name) => (name === "then" ? undefined : call(name)) });
}
