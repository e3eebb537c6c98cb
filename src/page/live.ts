/**
 * Keeps a view current: told by the gateway (SSE) where it can, else by asking again. While nobody looks at the tab, nothing is
 * asked; when somebody looks again, everything is.
 */
import { becomes, connection } from "./connection.js";

/** What the gateway tells; without a log_id, of Editors. */
export interface Happened {
  log_id?: string;
  event?: string;
  state?: string;
  tool?: string;
  editor?: string;
  at?: string;
}

export interface Watched {
  /** Asks for what it shows; `happened`: since the last time, undefined: anything may have. */
  refresh(happened?: readonly Happened[]): Promise<void>;
  /** It shows what no event tells of, and so is asked again this often, ms. */
  everyMs?: number;
}

const POLL_MS = 2_000;
/** Told of changes, it asks nevertheless, in case one was missed. */
const SAFETY_MS = 20_000;
/** Several changes at once cause one question. */
const GATHER_MS = 300;
/** A gateway without events is asked for them again. */
const AGAIN_MS = 60_000;

export function createLive(): {
  watch(view: Watched): void;
  /** Before a logout, which the gateway answers by cutting every stream of this login. */
  close(): void;
} {
  let view: Watched | undefined;
  let source: EventSource | undefined;
  let timer: number | undefined;
  let gathering: number | undefined;
  let happened: Happened[] | undefined = [];
  let isAsking = false;
  let askAgain = false;
  let noEventsUntil = 0;

  const refresh = async (events?: readonly Happened[]): Promise<void> => {
    if (isAsking) {
      askAgain = true;
      return;
    }
    isAsking = true;
    const asked = view;
    // What failed is shown by the view, or by the connection.
    await asked?.refresh(events).catch(() => undefined);
    isAsking = false;
    // The gateway's store was away and is back: the stream has stayed open meanwhile.
    if (connection().is === "asking" && source?.readyState === EventSource.OPEN) becomes("live");
    if (askAgain || asked !== view) {
      askAgain = false;
      void refresh();
    }
  };

  const plan = (): void => {
    window.clearTimeout(timer);
    if (document.hidden) return;
    const isTold = connection().is === "live";
    const wait = Math.min(view?.everyMs ?? SAFETY_MS, isTold ? SAFETY_MS : POLL_MS);
    timer = window.setTimeout(async () => {
      if (!source && Date.now() > noEventsUntil) listen();
      await refresh();
      plan();
    }, wait);
  };

  const gather = (event: Happened | undefined): void => {
    if (event === undefined) happened = undefined;
    else happened?.push(event);
    if (gathering !== undefined) return;
    gathering = window.setTimeout(() => {
      const events = happened;
      happened = [];
      gathering = undefined;
      void refresh(events);
    }, GATHER_MS);
  };

  const listen = (): void => {
    source = new EventSource("/api/v1/events");
    source.onopen = () => {
      becomes("live");
      // Between the last answer and now anything may have happened.
      gather(undefined);
      plan();
    };
    const told = ({ data }: MessageEvent<string>): void => {
      try {
        gather(JSON.parse(data) as Happened);
      } catch {
        gather(undefined);
      }
    };
    for (const name of ["operation", "progress", "partial", "log", "editors"])
      source.addEventListener(name, told as EventListener);
    source.addEventListener("gap", () => gather(undefined));
    source.onerror = () => {
      // Closed for good: a gateway without events, or with too many streams. Else the browser tries again by itself.
      if (source?.readyState === EventSource.CLOSED) {
        stop();
        noEventsUntil = Date.now() + AGAIN_MS;
      }
      if (connection().is === "live") becomes("asking");
      void refresh().then(plan);
    };
  };

  const stop = (): void => {
    source?.close();
    source = undefined;
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      stop();
      window.clearTimeout(timer);
      if (connection().is !== "lost") becomes("paused");
      return;
    }
    if (connection().is === "paused") becomes("asking");
    noEventsUntil = 0;
    listen();
    void refresh().then(plan);
  });

  return {
    watch(next) {
      view = next;
      if (!source && !document.hidden && Date.now() > noEventsUntil) listen();
      void refresh().then(plan);
    },
    close() {
      stop();
      noEventsUntil = Number.POSITIVE_INFINITY;
    },
  };
}
