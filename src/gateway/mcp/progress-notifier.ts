/** Shows a waiting client that its call is alive: a notification on every change, and at least every few seconds. */
import type { OperationView } from "../../shared/operation/answer.js";
import { isFinal } from "../../shared/operation/operation.js";
import type { Broker } from "../broker.js";

export interface ProgressNote {
  /** Grows with every notification, as the protocol requires. */
  progress: number;
  total?: number;
  message: string;
}

export interface ProgressOptions {
  /** A notification at least this often, ms. */
  everyMs: number;
  /** … and at most this often. */
  minMs: number;
}

/** The most impatient clients give up a silent server after 10 s. */
export const PROGRESS_DEFAULTS: ProgressOptions = { everyMs: 5_000, minMs: 250 };

export interface ShownProgress {
  update(view: OperationView): void;
  /** For times without an operation. */
  say(message: string): void;
  /** Sends nothing after this: an answered request has no progress. */
  close(): void;
}

export function showProgress(send: (note: ProgressNote) => void, options: ProgressOptions): ShownProgress {
  let latest: { at: number | undefined; total: number | undefined; message: string } | undefined;
  let shown: number | undefined;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** As configured for the operation, once it is known. */
  let { everyMs, minMs } = options;
  const openedAt = performance.now();

  const emit = (): void => {
    if (!latest) return;
    const { at, total, message } = latest;
    shown = larger(shown, at);
    lastSentAt = performance.now();
    const waited = `${Math.round((lastSentAt - openedAt) / 1000)} s`;
    send({
      progress: shown,
      ...(total !== undefined && total >= shown ? { total } : {}),
      message: `${message} (waited ${waited})`,
    });
    timer = setTimeout(emit, everyMs);
  };

  const show = (next: NonNullable<typeof latest>): void => {
    if (closed) return;
    if (latest?.at === next.at && latest?.total === next.total && latest?.message === next.message) return;
    latest = next;
    clearTimeout(timer);
    timer = setTimeout(emit, Math.max(0, lastSentAt + minMs - performance.now()));
  };

  return {
    update(view) {
      if (isFinal(view.record.state)) return;
      ({ everyMs, minMs } = { ...options, ...view.intervals });
      show({ at: view.progress?.progress, total: view.progress?.total, message: messageOf(view) });
    },
    say: (message) => show({ at: undefined, total: undefined, message }),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** For the metrics, which nobody waits for. */
export function countProgress(broker: Pick<Broker, "count">): void {
  broker.count("progress").catch(() => undefined);
}

/** The Editor's number if it grew, else the smallest increase that a number of this size can show. */
function larger(shown: number | undefined, at: number | undefined): number {
  if (shown === undefined) return at ?? 0;
  const step = Math.max(1e-6, Math.abs(shown) * 1e-9);
  return Math.max(at ?? 0, shown + step);
}

function messageOf({ record, progress, queuePosition, diagnosis }: OperationView): string {
  const place = queuePosition ? `, ${queuePosition} before it` : "";
  const message = progress?.message ?? (diagnosis && `${diagnosis.message} ${diagnosis.next}`);
  const said = message ? `: ${message}` : "";
  return `${record.state}${place}${said}`;
}
