/**
 * A state as a short string: equal exactly when nothing can tell two states apart.
 *
 * Each part becomes a number the first time that it is seen (states share most of their parts), so that no two states
 * are ever confused, as a hash could.
 */
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { Request, State, StoreState, Work, WorkerState } from "./state.js";

export interface Encoding {
  keyOf(state: State): string;
  /** The same state out of parts that were seen before, which are found without being read again. */
  shared(state: State): State;
}

export function createEncoding(): Encoding {
  const byObject = new Map<object, number>();
  const byText = new Map<string, number>();
  const parts: object[] = [];

  const numberOf = <T extends object>(part: T | null | undefined, textOf: (part: T) => string): number => {
    if (!part) return -1;
    const known = byObject.get(part);
    if (known !== undefined) return known;
    const text = textOf(part);
    const before = byText.get(text);
    if (before !== undefined) return before;
    const number = parts.push(part) - 1;
    byText.set(text, number);
    byObject.set(part, number);
    return number;
  };
  const oneOf = <T extends object>(part: T, textOf: (part: T) => string): T =>
    parts[numberOf(part, textOf)] as T;
  const list = <T extends object>(all: readonly T[], textOf: (part: T) => string): string => {
    let text = "";
    for (const part of all) text += `${numberOf(part, textOf)}.`;
    return text;
  };

  const keyOf = (state: State): string => {
    const { store, copy, version } = state;
    // Versions only matter beside each other.
    let plans = "";
    for (const { plan } of state.requests) if (plan) plans += `${plan.version - version}.`;
    return [
      state.hour,
      numberOf(state.caller, plain),
      list(state.requests, request),
      plans,
      numberOf(store, storeText),
      copy ? state.copyVersion - version : "",
      numberOf(copy, storeText),
      list(state.workers, workerText),
      list(state.frames, plain),
      list(state.editors, plain),
      numberOf(state.ledgerCopy, plain),
      numberOf(state.history, plain),
      numberOf(state.left, plain),
    ].join(",");
  };

  const plain = (part: object): string => JSON.stringify(part);
  const recordText = (record: OperationRecord): string => `r${sorted(record)}`;
  const storeText = ({ records, results, ...rest }: StoreState): string => {
    let text = "s";
    for (const logId of Object.keys(records).sort()) text += `${numberOf(records[logId], recordText)}.`;
    return `${text}${sorted(results)}${JSON.stringify(rest)}`;
  };
  const workText = ({ record, ...rest }: Work): string =>
    `${numberOf(record, recordText)}${JSON.stringify(rest)}`;
  const workerText = ({ works, ...rest }: WorkerState): string =>
    `w${list(works, workText)}${JSON.stringify(rest)}`;

  return {
    keyOf,
    shared: (state) => ({
      ...state,
      caller: oneOf(state.caller, plain),
      requests: state.requests.map((one) => (one.plan ? one : oneOf(one, request))),
      store: oneOf(state.store, storeText),
      workers: state.workers.map((worker) => oneOf(worker, workerText)),
      editors: state.editors.map((editor) => oneOf(editor, plain)),
      frames: state.frames.map((frame) => oneOf(frame, plain)),
      history: oneOf(state.history, plain),
      left: oneOf(state.left, plain),
    }),
  };
}

function sorted(part: object): string {
  const values = part as Record<string, unknown>;
  let text = "";
  for (const name of Object.keys(values).sort()) text += `${name}:${JSON.stringify(values[name])};`;
  return text;
}

function request({ plan, ...rest }: Request): string {
  if (!plan) return JSON.stringify(rest);
  const { version: _version, ...links } = plan;
  return JSON.stringify([rest, links]);
}
