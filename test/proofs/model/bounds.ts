/** How often each thing may happen in one history: what makes the exploration end. */

const NOTHING = {
  /** Calls sent by the caller: the first, repetitions of it, and new intents. */
  calls: 1,
  /** Intents after the first: the same call after its outcome was read. */
  newIntents: 0,
  /** Intents by force_new. */
  forces: 0,
  /** Messages that name a log_id whose outcome was read. */
  names: 0,
  /** Waits of a call that end: its caller receives the log_id, and asks for that. */
  polls: 0,
  /** Requests given up with a cancellation that names a timeout, and sent again. */
  cancels: 0,
  /** Requests that their user cancels on purpose. */
  escs: 0,
  /** Cancellations of requests whose answers were read. */
  lateCancels: 0,
  /** Answers that are written into a connection that is reset. */
  resets: 0,
  /** The caller goes on in another session; over stdio in another process. */
  sessions: 0,
  /** Calls of somebody else, who names the last Editor. */
  others: 0,
  /** 10 s: whatever waits has been open for so long. */
  delays: 0,
  /** Requests that a proxy sends twice. */
  doubles: 0,
  /** Answers that a proxy takes, and that nobody reads. */
  deadAnswers: 0,
  hours: 0,
  gatewayCrashes: 0,
  /** Operations that expire because their Editor is away. */
  expiries: 0,
  /** Jobs that are added manually. */
  handJobs: 0,
  /** Compilations by the caller between its calls. */
  mutations: 0,
  /** Assets that change in the Editor while nothing runs there; its heartbeat says so. */
  edits: 0,
  workerCrashes: 0,
  /** A person pauses an Editor, so that what it has taken from its pool and not begun goes back. */
  pauses: 0,
  /** An owner stands still until another has its lease, then goes on. */
  hangs: 0,
  /** Connections cut; with a frame on its way both lost and left in the socket's buffer. */
  cuts: 0,
  editorCrashes: 0,
  reloads: 0,
  /** The store is saved (or becomes durable) … */
  copies: 0,
  /** … and goes back to that, or to nothing if it never was. */
  rollbacks: 0,
  /** Redis is started again and has lost nothing, which nobody can know. */
  restarts: 0,
  ledgerCopies: 0,
  ledgerRollbacks: 0,
  ledgerLosses: 0,
  /** Results of acknowledged operations that an Editor drops. */
  forgets: 0,
  /** Operations that an Editor drops from its ledger, as their retention has ended. */
  retires: 0,
};

export type Bounds = Readonly<typeof NOTHING>;
export type Fault = keyof Bounds;

export const bounds = (some: Partial<Bounds>): Bounds => ({ ...NOTHING, ...some });

export const spend = (left: Bounds, fault: Fault): Bounds => ({ ...left, [fault]: left[fault] - 1 });
