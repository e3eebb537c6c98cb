/** The Editor's steps: hello and its fence, the real `admit` over a ledger, one execution at a time. */
import {
  type AdmitLedger,
  type AdmittedOperation,
  admit,
  type Fence,
} from "../../../src/shared/operation/decide.js";
import type { EditorReply } from "../../../src/shared/operation/recover.js";
import {
  EDITOR_CODES,
  type Outcome,
  type SubmitAnswer,
  type SubmitParams,
} from "../../../src/shared/wire/wire.js";
import type { Offer } from "./offer.js";
import type { Facts } from "./state/facts.js";
import { markOf } from "./state/mark.js";
import {
  type EditorState,
  type Entry,
  type Frame,
  HASH,
  type Ledger,
  now,
  type State,
  withEditor,
  without,
  withWorker,
} from "./state/state.js";
import type { Rules } from "./switches.js";

export type Hello = { kind: "hello"; ledger: Ledger } | { kind: "fenced"; highestEpoch: number };

/** What `bridge/hello` answers; the fence is in the journal before. */
export function hello({ ledger }: EditorState, fence: Fence, { off }: Rules): Hello {
  const highest = ledger.fence;
  if (highest && off !== "noFence" && fence.epoch <= highest.epoch) {
    const isSame = fence.epoch === highest.epoch && fence.ownerNonce === highest.ownerNonce;
    const passes = isSame || (off === "nonceIgnored" && fence.epoch === highest.epoch);
    if (!passes) return { kind: "fenced", highestEpoch: highest.epoch };
  }
  const isNew = fence.epoch !== highest?.epoch || fence.ownerNonce !== highest.ownerNonce;
  return { kind: "hello", ledger: isNew ? { ...ledger, seq: ledger.seq + 1, fence } : ledger };
}

export function editorSteps(state: State, facts: Facts, rules: Rules, offer: Offer): void {
  for (const frame of state.frames) {
    const editor = state.editors.find(({ id }) => id === frame.editor);
    if (editor?.up && editor.session === frame.session) handles(state, editor, frame, rules, offer);
  }
  for (const editor of state.editors) {
    if (editor.up && editor.reloads) reloads(state, editor, offer);
    else if (editor.up) works(state, editor, facts, offer);
    else starts(state, editor, offer);
  }
}

function handles(state: State, editor: EditorState, frame: Frame, rules: Rules, offer: Offer): void {
  const { seat } = editor;
  const isSeated =
    seat?.worker === frame.worker && seat.life === frame.life && seat.connection === frame.connection;
  const rest = { frames: without(state.frames, frame) };
  const says = `${editor.id} reads ${frame.worker}'s ${frame.asks} of ${frame.id}`;
  // A submit is judged by its fence alone, also out of the buffer of a connection that has ended.
  if (frame.asks !== "submit" && !isSeated) {
    offer("part", `${says}, and drops it: its connection has ended`, rest);
    return;
  }
  const { found, ledger, word } = answered(editor, frame, rules);
  const isForOther = isAgainstFence(editor, frame) && ledger !== editor.ledger;
  const fault = isForOther ? `${frame.id} is journalled for an owner that another has replaced` : null;
  offer("part", `${says}: ${word}`, {
    ...rest,
    ...withEditor(state, { ...editor, ledger }),
    ...(isSeated ? hears(state, frame, found) : {}),
    ...(fault === null ? {} : { history: { ...state.history, fault } }),
  });
}

const isAgainstFence = ({ ledger: { fence } }: EditorState, frame: Frame): boolean =>
  frame.fence.epoch !== fence?.epoch || frame.fence.ownerNonce !== fence.ownerNonce;

/** The answer reaches the piece of work that asked, if that still waits for it. */
function hears(state: State, frame: Frame, found: EditorReply): Partial<State> {
  const worker = state.workers.find(({ name, life }) => name === frame.worker && life === frame.life);
  const isThere = worker?.link?.connection === frame.connection;
  const work = worker?.works.find(({ logId, at, asks }) => {
    return logId === frame.logId && at === "asked" && asks === frame.asks;
  });
  if (!worker || !isThere || !work) return {};
  const reported = { ...work, at: "answered" as const, found };
  return withWorker(state, { ...worker, works: worker.works.map((one) => (one === work ? reported : one)) });
}

function answered(
  editor: EditorState,
  frame: Frame,
  rules: Rules,
): { found: EditorReply; ledger: Ledger; word: string } {
  const { ledger } = editor;
  const entry = ledger.entries.find(({ id }) => id === frame.id);
  if (frame.asks === "submit") return submitted(ledger, frame, rules);
  if (frame.asks === "get" || (entry && entry.state !== "accepted" && entry.state !== "not_started")) {
    const outcome = entry?.outcome ? { outcome: entry.outcome } : {};
    const answer = { state: entry?.state ?? ("unknown" as const), ledgerSeq: ledger.seq, ...outcome };
    return { found: { asked: "get", answer }, ledger, word: answer.state };
  }
  const revoked: Entry = { id: frame.id, state: "revoked", acknowledged: false };
  const entries = entry
    ? ledger.entries.map((one) => (one === entry ? revoked : one))
    : [...ledger.entries, revoked];
  const found: EditorReply = { asked: "get", answer: { state: "revoked", ledgerSeq: ledger.seq } };
  return { found, ledger: { ...ledger, seq: ledger.seq + 1, entries }, word: "revoked" };
}

function submitted(ledger: Ledger, frame: Frame, rules: Rules): ReturnType<typeof answered> {
  const params: SubmitParams = {
    operationId: frame.id,
    hash: HASH,
    after: frame.after,
    origin: frame.origin ?? { principal: "", tool: "", fingerprint: "" },
    tool: "build",
    arguments: {},
    argumentsHash: "f",
    acceptedAt: frame.acceptedAt,
    ...frame.fence,
    ledgerId: frame.ledgerId,
  };
  const admitted = admit(admitting(ledger, frame, rules), params);
  switch (admitted.kind) {
    case "run": {
      const { after, acceptedAt, origin } = params;
      const submitted = { after, acceptedAt, origin };
      const accepted: Entry = { id: frame.id, state: "accepted", submitted, acknowledged: false };
      const entries = [...ledger.entries.filter(({ id }) => id !== frame.id), accepted];
      const found: EditorReply = { asked: "submit", answer: { state: "accepted", ledgerSeq: ledger.seq } };
      return { found, ledger: { ...ledger, entries }, word: "accepted" };
    }
    case "refuse": {
      const { code, message } = admitted;
      const found: EditorReply = { asked: "submit", refusal: { code: EDITOR_CODES[code], message } };
      return { found, ledger, word: code };
    }
    case "same_as": {
      const { kind, ...fields } = admitted;
      const answer = { ...fields, state: kind, ledgerSeq: ledger.seq } as SubmitAnswer;
      const word = `same as ${admitted.operationId} (${admitted.stateThere})`;
      return { found: { asked: "submit", answer }, ledger, word };
    }
    case "attach": {
      const { kind: _kind, ...fields } = admitted;
      const answer: SubmitAnswer = { ...fields, ledgerSeq: ledger.seq };
      return { found: { asked: "submit", answer }, ledger, word: `${admitted.state} already` };
    }
    default:
      throw new Error(`the model's Editor answers ${admitted.kind}`);
  }
}

/** The ledger as `admit` reads it; a rule that is off shows it something else. */
function admitting(ledger: Ledger, frame: Frame, { off }: Rules): AdmitLedger {
  const unrevoked = ledger.entries.filter(({ state }) => state !== "revoked");
  const latest = unrevoked.at(-1);
  const isElsewhere = !unrevoked.some(({ id }) => id === frame.after);
  const seesNothing = off === "onlyWhatIsLater" && frame.after !== null && isElsewhere;
  const passes = off === "noFence" || (off === "nonceIgnored" && frame.fence.epoch === ledger.fence?.epoch);
  return {
    ledgerId: ledger.ledgerId,
    fence: passes ? frame.fence : (ledger.fence ?? undefined),
    forgetHorizon: 0,
    get: (id) => asAdmitted(ledger.entries.find((entry) => entry.id === id)),
    latestOfHash: () => (seesNothing ? undefined : asAdmitted(latest)),
    hasTool: () => true,
    isReadOnly: () => false,
    securityRefusal: () => undefined,
  };
}

const asAdmitted = (entry: Entry | undefined): AdmittedOperation | undefined =>
  entry && {
    operationId: entry.id,
    state: entry.state,
    argumentsHash: "f",
    ...entry.submitted,
    ...(entry.outcome ? { outcome: entry.outcome } : {}),
  };

/** The main thread: begins what was accepted first, or ends what runs. */
function works(state: State, editor: EditorState, facts: Facts, offer: Offer): void {
  const { ledger } = editor;
  const running = ledger.entries.find((entry) => entry.state === "running");
  if (running) {
    const stood = standingAt(editor, facts);
    const ended = ending(running, "completed", state, stood);
    offer(
      "part",
      `${editor.id} completes ${running.id}`,
      withEditor(state, journalled(stood, running, ended)),
    );
    return;
  }
  const next = ledger.entries.find((entry) => entry.state === "accepted");
  if (!next) return;
  const { history, caller } = state;
  const begins = { id: next.id, editor: editor.id, changes: caller.changes };
  offer("part", `${editor.id} begins ${next.id}`, {
    ...withEditor(state, journalled(editor, next, { ...next, state: "running" })),
    history: { ...history, begun: [...history.begun, begins] },
  });
}

/** A compilation has changed assets, and reloads the domain behind its end; tests in play mode reload it before theirs. */
function standingAt(editor: EditorState, { tool }: Facts): EditorState {
  if (tool === "compile") return { ...editor, assets: editor.assets + 1, reloads: true };
  return tool === "run-tests" ? { ...editor, generation: editor.generation + 1 } : editor;
}

function reloads(state: State, editor: EditorState, offer: Offer): void {
  const reloaded = { ...editor, reloads: false, generation: editor.generation + 1, seat: null };
  const frames = state.frames.filter((frame) => frame.editor !== editor.id);
  offer("part", `${editor.id} reloads its scripts, as announced`, { frames, ...withEditor(state, reloaded) });
}

export function ending(entry: Entry, status: Outcome["status"], state: State, stood: EditorState): Entry {
  const at = now(state);
  const announced = stood.reloads ? { reloadAnnounced: true as const } : {};
  const endedIn = { ...markOf(stood), ...announced };
  const outcome: Outcome = { status, startedAt: at, endedAt: at, executionMs: 1, endedIn };
  return { ...entry, state: status, outcome };
}

/** A durable change of one entry. */
function journalled(editor: EditorState, before: Entry, after: Entry): EditorState {
  const { ledger } = editor;
  const entries = ledger.entries.map((entry) => (entry === before ? after : entry));
  return { ...editor, ledger: { ...ledger, seq: ledger.seq + 1, entries } };
}

/** A new process on the same project. What was running there was ended, what waited was not, by its predecessor's crash. */
function starts(state: State, editor: EditorState, offer: Offer): void {
  const entries = editor.ledger.entries.map((entry) => {
    if (entry.state === "accepted") return { ...entry, state: "not_started" as const };
    return entry.state === "running" ? ending(entry, "interrupted", state, editor) : entry;
  });
  const changes = entries.filter((entry, at) => entry !== editor.ledger.entries[at]).length;
  const session = editor.session + 1;
  const { seq, session: before } = editor.ledger;
  const previous = before === 0 ? null : { session: before, seq };
  const ledger = { ...editor.ledger, entries, seq: seq + 1 + changes, session, previous };
  offer(
    "part",
    `${editor.id} starts, session ${session}`,
    withEditor(state, { ...editor, up: true, session, ledger, reloads: false }),
  );
}
