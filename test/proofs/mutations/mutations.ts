/**
 * Which patch takes out which rule, and the schedule or the test that is aimed at it. A patch's own first lines say in words what
 * it takes out; docs/proofs/mutations.md has the table.
 */
export interface Mutation {
  patch: string;
  /** Patches beneath it, where a deeper rule would hold what this one lets go: with them alone the schedule is green. */
  beneath: readonly string[];
  aim: Aim;
  seeds: readonly number[];
  /** What the judge must say, with at least one of the seeds. */
  says: RegExp;
}

/** A schedule by its name, or one test of a file: for sentences of rules that are pure functions or single steps. */
export type Aim = { schedule: string } | { file: string; test: string };

export function aimOf({ aim }: Pick<Mutation, "aim">): string {
  return "schedule" in aim ? aim.schedule : aim.test;
}

const TWICE = /^([2-9]|\d\d+) executions of 1 intent$|^([3-9]|\d\d+) executions of 2 intents$/;

function mutation(
  patch: string,
  schedule: string,
  says: RegExp = TWICE,
  more: Partial<Pick<Mutation, "beneath" | "seeds">> = {},
): Mutation {
  return { patch: `${patch}.patch`, beneath: [], aim: { schedule }, seeds: [1], says, ...more };
}

function tested(
  patch: string,
  file: string,
  test: string,
  more: Partial<Pick<Mutation, "beneath">> = {},
): Mutation {
  const aim = { file: `test/${file}.test.ts`, test };
  return { patch: `${patch}.patch`, beneath: [], aim, seeds: [1], says: /^red/, ...more };
}

const beneath = (...names: string[]): Pick<Mutation, "beneath"> => ({
  beneath: names.map((name) => `${name}.patch`),
});

export const MUTATIONS: readonly Mutation[] = [
  tested("00-compare-and-set", "system/broker/broker-targets", "▲2 two gateways that have not met a call"),
  mutation("00-deduplicated", "re-issue after another's answer", /^an older outcome reported as new$/),
  mutation("00-executed-at", "re-issue after another's answer", /^a wrong executed_at$/),
  mutation(
    "01-claim",
    "a manual job for an operation that was cancelled unsent",
    /^1 execution of a call that was cancelled/,
  ),
  mutation(
    "01-job-of-the-editor",
    "a manual job in another Editor's queue",
    /^1 execution in another Editor$/,
    beneath("11-fence-of-the-store"),
  ),
  tested(
    "01-stale-claim",
    "system/store/store",
    "concurrent changes are all applied, none on top of an older record",
  ),
  mutation("01-lost-job", "the job of a waiting operation is removed; a retry", /^0 executions of 1 intent$/),
  mutation(
    "02-job-ids",
    "a second run that is meant, by force_new",
    /^1 execution of 2 intents$/,
    beneath("01-lost-job"),
  ),
  mutation("03-own-parameters", "a retry waits longer than the call"),
  mutation("03-canonical-form", "a retry names its arguments in another order"),
  mutation("03-large-integers", "two calls with ids beyond 2^53", /^1 execution of 2 intents$/),
  mutation("04-target-left-out", "a retry that leaves the Editor out"),
  tested("04-named-editor", "unit/shared/operation/decide", "W9: a call without `editor` ran on one Editor"),
  tested(
    "04-other-project",
    "unit/shared/operation/decide",
    "is not answered by what another project's Editor runs or ran",
  ),
  tested("04-missing-editors", "system/worker/known-editors", "A's operation is sent again without `editor`"),
  tested(
    "04-each-editor",
    "unit/shared/operation/decide",
    "W21: C1's run on A is unread, C2's on B was delivered",
  ),
  tested("04-passed-over", "unit/shared/operation/decide", "▲4 one that never began is passed over"),
  mutation("05-join", "many at once"),
  mutation("05-join-too-much", "set A, set B, set A again, with no wait", /^2 executions of 3 intents$/),
  tested(
    "05-own-change",
    "unit/shared/operation/decide",
    "▲5 others' compilations do not keep a retry from joining its tests; its own caller's do",
  ),
  tested(
    "05-restored",
    "unit/shared/operation/decide",
    "W3: restored tests are joined once they are known to run",
  ),
  tested("05-cancelled", "unit/shared/operation/decide", "call does not join what is being cancelled"),
  tested("05-changing", "unit/shared/operation/decide", "whatever happened since"),
  tested(
    "05-given-up",
    "unit/shared/operation/decide",
    "a call joins the run of others' that its own user has cancelled, and not its own",
  ),
  tested(
    "05-timeout",
    "unit/shared/operation/schedules/schedules",
    "who cancels its request for the tests on purpose is not given that run",
  ),
  // Delivered and read.
  tested(
    "07-late-cancellation",
    "system/mcp/mcp-stdio",
    "a cancellation behind the answer takes nothing back of what was read at once",
  ),
  mutation("07-given-up", "given up over stdio while it runs, and sent again after it ended", TWICE, {
    seeds: [1, 2, 3],
  }),
  tested("07-cancelled-while-written", "unit/gateway/exchange", "while its answer is being written"),
  tested(
    "07-unhandled-end",
    "unit/gateway/exchange",
    "not if the connection had ended before the write, though nobody had noticed yet",
  ),
  tested(
    "07-begins-unheard",
    "system/mcp/request-tracker",
    "a call whose client had gone before its turn came does not begin, though nobody had noticed yet",
  ),
  tested("07-begins-unasked", "system/mcp/hang-ups", "whose client hangs up while the store lets it wait"),
  tested("07-unwritten", "unit/gateway/exchange", "nor what was not written"),
  tested(
    "07-read-resumed",
    "unit/gateway/exchange",
    "only over a direct connection, not on a stream that was taken up, and not by a client that says itself what it has read",
  ),
  tested(
    "07-reset-after-read",
    "unit/shared/operation/schedules/schedules",
    "a reset behind a second answer takes back nothing of the first, which was read",
  ),
  tested(
    "07-begins-dropped",
    "system/mcp/request-tracker",
    "a call that is cancelled before its turn came does not begin",
  ),
  tested(
    "07-input-ended",
    "system/mcp/request-tracker",
    "after the client has said its last word does not count",
  ),
  tested(
    "07-pipe-sent",
    "unit/gateway/pipe-session",
    "an answer counts when the pipe has written it to the client",
  ),
  tested("07-hung-up", "system/mcp/mcp-http", "a client that left before the end was told nothing"),
  tested("07-told-again", "system/rest/repetitions", "what a client has already is not told again"),
  tested("07-reset", "system/security/http-reset", "W16: a reset takes it back"),
  tested("07-crossing-end", "system/security/http-reset", "a client that closes just before it is answered"),
  tested("07-reset-asleep", "system/security/http-reset", "while the gateway stood still takes it back"),
  tested("07-read-closing", "system/security/http-reset", "tells of no reset, so nothing of it is read"),
  tested(
    "07-closed-in-order",
    "system/security/http-reset",
    "a connection that is closed in order takes nothing back",
  ),
  tested(
    "07-reset-after-next",
    "system/security/http-reset",
    "a reset behind the connection's next request takes nothing back",
  ),
  mutation(
    "07-taken-back",
    "over stdio: the client's time is over as the answer is written, and it calls again",
    TWICE,
    { seeds: [1, 2, 3] },
  ),
  tested(
    "07-crossing-late",
    "unit/gateway/exchange",
    "within a second of the write takes it back, and later nothing",
  ),
  tested(
    "07-reset-window",
    "unit/shared/operation/askings",
    "a reset leaves a caller that asked and never got it",
  ),
  mutation(
    "06-noted-after",
    "the gateway dies while it records the delivery of the tests' report; the call again",
    /^a delivered outcome delivered again$/,
  ),
  tested("07-withheld", "unit/gateway/exchange", "whose delivery cannot be noted is withheld"),
  tested(
    "07-notes-in-order",
    "unit/shared/operation/schedules/schedules",
    "the notes of an operation are stored in their order",
  ),
  tested(
    "10-delivered-as",
    "unit/shared/operation/schedules/schedules",
    "what another operation answers for is delivered as that one",
  ),
  mutation(
    "07-written-is-not-read",
    "schedule A: the answer to #1 goes to nobody, #2 is not taken for a deliberate run",
  ),
  tested("07-forwarded", "system/mcp/mcp-http", "what a proxy took"),
  tested(
    "07-remote",
    "unit/gateway/direct-connections",
    "what comes from another machine may have come through anything",
  ),
  tested("07-slow", "unit/gateway/exchange", "within 10 s of its arrival"),
  tested(
    "07-waited-elsewhere",
    "unit/gateway/pipe-session",
    "an answer counts when the pipe has written it to the client",
  ),
  mutation(
    "07-stall",
    "a stdio process stands still and reads a request late; its client has given up, and calls again",
  ),
  tested(
    "07-stall-settled",
    "system/mcp/stalls",
    "by one that was stopped and goes on may have waited, all of it",
  ),
  tested("07-reads-by-name", "unit/gateway/exchange", "not by a client that says itself what it has read"),
  tested("07-says-read", "unit/gateway/exchange", "but for a client that says itself when it has read"),
  tested(
    "07-others-name",
    "unit/shared/operation/schedules/schedules",
    "what another principal names is not read",
  ),
  tested(
    "07-declared",
    "unit/shared/named-caller",
    "the runs of a command that gives one name are one caller",
  ),
  tested(
    "07-delivered-is-read",
    "unit/shared/operation/schedules/schedules",
    "schedule A: answered into a connection that nobody reads",
  ),
  tested(
    "07-naming",
    "unit/shared/operation/schedules/schedules",
    "W17: after a slow answer only naming the log_id is proof",
  ),
  tested(
    "07-own-answer",
    "unit/shared/operation/schedules/schedules",
    "W19: the message that names the log_id is answered into nothing",
  ),
  tested("07-resumed-names", "system/mcp/resumed-streams", "does not prove that its own answer was read"),
  tested("07-read-later", "unit/shared/operation/askings", "a slow answer, then a quick one"),
  // Owed.
  tested("06-creator", "unit/shared/operation/askings", "to requests without a session each by itself"),
  tested("06-joiners", "system/broker/owed", "joined it"),
  tested("06-waiters", "system/broker/owed", "waited for it by its log_id"),
  tested("06-settles", "unit/shared/operation/askings", "a caller that reads settles its earlier askings"),
  tested("06-single-requests", "system/rest/repetitions", "is still owed when another one has read it"),
  tested("06-looking", "system/rest/repetitions", "to look tells nothing, and reads nothing"),
  tested("06-history", "system/rest/repetitions", "lists, histories and states tell nothing"),
  tested("06-listing", "system/broker/owed", "who lists an operation"),
  tested("06-explaining", "system/broker/owed", "has it explained has not got its outcome"),
  tested("06-status", "system/broker/owed", "has it explained has not got its outcome"),
  tested("06-askers-forgotten", "unit/shared/operation/askings", "and a debt never"),
  tested("06-debts-first", "unit/shared/operation/askings", "a caller that is owed it is still named"),
  tested("06-singles-first", "unit/shared/operation/askings", "are forgotten before one that may"),
  tested("06-carried", "unit/shared/operation/decide", "is owed to those who have not got the one before"),
  tested(
    "06-carried-for-ever",
    "unit/shared/operation/askings",
    "for as long as a client may take to come back",
  ),
  tested("06-owed-unread", "unit/shared/operation/askings", "where nobody has got it yet, from now on"),
  tested(
    "06-owed-through",
    "unit/shared/operation/schedules/schedules",
    "who asks for an operation that another one answers for has asked for that one",
  ),
  tested(
    "06-given-up-resent",
    "unit/gateway/pipe-session",
    "a call that comes again with its cancellation gives up what an earlier broker made of it, and begins nothing",
  ),
  tested(
    "06-carried-answers",
    "unit/shared/operation/again",
    "who is owed it only because it was owed the run before",
  ),
  // Again.
  tested(
    "06-reader",
    "unit/shared/operation/again",
    "runs if this caller has read the outcome, even if others are owed it",
  ),
  tested(
    "06-owed",
    "unit/shared/operation/again",
    "does not run for another while somebody that joined is owed it",
  ),
  tested(
    "06-owed-lost",
    "unit/shared/operation/again",
    "after a loss of the store it may be owed to somebody",
  ),
  tested("06-owed-to-nobody", "unit/shared/operation/again", "runs for anybody if it is owed to nobody"),
  mutation(
    "06-undelivered",
    "an answer that nobody received, the lid closed for longer than the replay window, the retry",
  ),
  tested(
    "06-undelivered-ages",
    "unit/shared/operation/again",
    "an outcome that was delivered to nobody answers for the whole retention",
  ),
  tested(
    "06-asked",
    "unit/shared/operation/again",
    "a caller that asked and never got it gets it for the whole retention",
  ),
  mutation("06-window", "re-issue after another's answer"),
  tested(
    "06-window-minutes",
    "unit/shared/operation/again",
    "anybody else gets it for 15 minutes after the first delivery",
  ),
  tested(
    "06-window-ends",
    "unit/shared/operation/again",
    "anybody else gets it for 15 minutes after the first delivery",
  ),
  tested("06-window-execution", "unit/shared/operation/again", "or for twice the time that it took"),
  mutation("06-key", "the same idempotency key after the outcome was read"),
  tested(
    "08-forced-again",
    "unit/shared/operation/again",
    "the same forced call again is the same operation, even once it was read",
  ),
  tested("06-reads", "unit/shared/operation/again", "reads always run"),
  tested("06-never-began", "unit/shared/operation/again", "before it began: a call runs"),
  mutation("09-unknown", "retry after interrupted"),
  tested("06-delivered", "unit/shared/operation/again-repeatable", "delivered to anybody, read or not"),
  tested(
    "06-cancelled-answers",
    "unit/shared/operation/again-repeatable",
    "its caller cancelled its own request for that run",
  ),
  tested("06-aged", "unit/shared/operation/again-repeatable", "answers while it is younger than"),
  tested("06-aged-floor", "unit/shared/operation/again-repeatable", "answers while it is younger than"),
  tested("06-aged-execution", "unit/shared/operation/again-repeatable", "answers while it is younger than"),
  tested("06-changed", "unit/shared/operation/again-repeatable", "nobody read it, and"),
  tested("06-counters", "unit/shared/operation/again-repeatable", "nobody read it, and"),
  tested("06-mark-unknown", "unit/shared/operation/again-repeatable", "nobody read it, and"),
  tested(
    "06-incarnation",
    "unit/shared/operation/again-repeatable",
    "a restored one, and one from before a change of the store's incarnation",
  ),
  tested(
    "06-restored",
    "unit/shared/operation/again-repeatable",
    "a restored one, and one from before a change of the store's incarnation",
  ),
  tested("06-tests-unknown", "unit/shared/operation/again-repeatable", "one answers nobody"),
  tested("06-resent", "system/broker/broker", "nobody says that it was not run again"),
  tested("06-resent-own", "system/broker/broker", "nobody says that it was not run again"),
  tested("06-join-says", "unit/shared/operation/answer", "one run answers both, and not that it was not run"),
  // Named re-run.
  mutation("08-forced-identity", "schedule C: a force_new that timed out and is sent again as it was"),
  tested("08-refusal", "unit/shared/operation/decide-forced", "is refused, and nothing runs"),
  tested(
    "08-refusal-shows",
    "unit/shared/operation/decide-forced",
    "W14: the store forgot what is superseded",
  ),
  mutation("10-epoch", "the store's epoch goes back, and a new owner comes", /^0 executions of 1 intent$/),
  mutation("10-chain", "the store forgets what has run; the call is sent again"),
  mutation("10-equality", "revoked, forced, forgotten, forced again"),
  mutation("10-frozen-links", "ran and was forgotten; its retry expires unsent; the next retry"),
  mutation("10-forced", "a deliberate run expires unsent; the next one", /^1 execution of 2 intents$/),
  mutation(
    "10-frozen-after",
    "ran, forgotten, sent again, and reported by the Editor before it is sent there",
  ),
  tested(
    "10-entered",
    "unit/shared/operation/recover",
    "W1: however many operations of the hash expired in between",
  ),
  tested("10-entered-in-order", "unit/shared/operation/recover", "W12: op1 ran, flush, the retry makes op2"),
  tested(
    "10-asked-anew",
    "unit/shared/operation/recover",
    "W3: the outcome of tests that was read before the flush",
  ),
  tested(
    "10-restored-left",
    "system/store/incarnation",
    "what the Editor names in place of the next call ends, too",
  ),
  tested("10-as-it-is-there", "unit/shared/operation/recover", "W3: restored as sent, and ended there"),
  tested(
    "10-key-conflict",
    "unit/shared/operation/recover",
    "W4: key K was of another call before the flush",
  ),
  tested("10-forced-reissue", "unit/shared/operation/recover", "W13: the store forgot the forced run"),
  tested(
    "10-nobodys-tests",
    "unit/shared/operation/recover",
    "▲10 (b) without origin tests run again behind it, unless a key names one run",
  ),
  tested(
    "10-nobodys",
    "unit/shared/operation/recover",
    "▲10 (b) without origin nobody knows whose outcome it is",
  ),
  tested(
    "10-executed-as",
    "unit/shared/operation/answer",
    "W3: an answer from another operation's execution",
  ),
  mutation("10-ledger-seq", "nobody hears that it began, and the Editor comes back with an older ledger"),
  mutation(
    "10-recovery-metadata",
    "the store forgets what runs; its log_id is asked for",
    /^its log_id reads not_found$/,
  ),
  mutation(
    "11-fence-of-the-editor",
    "an owner's frame arrives when its lease and its store are gone",
    TWICE,
    beneath("10-chain", "11-seat"),
  ),
  mutation(
    "11-fence-of-the-store",
    "an owner that lost its lease takes its claim back",
    /^1 execution of a call/,
  ),
  mutation(
    "12-attach",
    "the worker dies while its operation runs; the next one adopts it",
    /^its outcome reaches nobody$/,
    beneath("10-chain"),
  ),
  mutation(
    "12-unknown",
    "the Editor crashes in the middle, and its ledger is gone when it comes back",
    TWICE,
    beneath("10-ledger-seq", "10-seen-running"),
  ),
  mutation(
    "12-revoke",
    "unknown to the Editor, reported as unknown, and then its frame arrives",
    /^OUTCOME_UNKNOWN, and 1 execution after that$/,
    beneath("12-session-at-sending", "11-seat"),
  ),
  mutation("12-sent-log", "a call to an Editor without a ledger, its worker killed in the middle"),
  mutation(
    "13-claims",
    "the store loses what has run; another call is claimed, and the lost one asked for",
    /^its log_id reads not_found$/,
    beneath("13-noticed"),
  ),
  mutation(
    "13-import",
    "the store loses what has run; another call is claimed, and the lost one asked for",
    /^its log_id reads not_found$/,
  ),
  tested(
    "10-newest-first",
    "system/worker/known-editors",
    "the retry finds A's newest run, not an older one",
  ),
  tested(
    "13-older-copy",
    "system/worker/known-editors",
    "one that was shut down in order takes its mark along",
  ),
  tested(
    "13-store-id",
    "system/store/incarnation",
    "is refused by its Editors until then, and imports what they ran",
  ),
  tested(
    "13-noticed",
    "system/store/incarnation",
    "changes the incarnation, and each Editor is imported again",
  ),
  tested(
    "13-lost-chain",
    "system/pools/lost-chain",
    "a key still names its run while the other Editor is the idle one",
  ),
  tested(
    "13-record-lost",
    "system/worker/forget-editor",
    "before it is given up: the call runs in no other Editor, but by force",
  ),
  tested(
    "10-one-call",
    "system/store/lost-in-flight",
    "a record, its chain, and that there was one, are lost",
  ),
  tested("13-unsent", "system/store/unsent", "a cancellation waits for the Editor, and comes too late"),
  mutation(
    "14-acknowledge",
    "the store loses its last writes, among them an outcome",
    /^its outcome reads OUTCOME_UNKNOWN$/,
  ),
  mutation("15-expiry", "the Editor is gone for good while a call waits for it", /^1 operation open$/),
  // The claim of what waits plainly, in one step.
  tested("01-claim-job", "system/store/claims", "▲1 the job is not the one that its record names"),
  tested("01-claim-waiting", "system/store/claims", "it is not waiting any more"),
  tested("10-claim-answered", "system/store/claims", "▲10 (b) another operation answers for it"),
  tested("11-claim-fence", "system/store/claims", "▲11 another owner holds the lease"),
  tested("12-claim-session", "system/store/claims", "▲12 it is claimed in the session that will be asked"),
  tested(
    "12-create-lost",
    "system/worker/lost-replies",
    "it runs once, and before what its caller asks for next",
  ),
  tested(
    "13-claim-import",
    "system/store/claims",
    "▲13 the Editor's operations were imported in another incarnation",
  ),
  tested("00-claim-limit", "system/store/claims", "its principal has as many running as it may"),
  tested(
    "04-pool-of-the-editor",
    "system/pools/pools",
    "▲4 one that never began is passed over, in a pool too",
  ),
  tested("12-pool-back", "unit/gateway/pool-keeper", "stays if it was sent"),
  tested("13-pool-closed", "unit/shared/editors/pool", "▲13 is closed while any Editor is missing"),
  tested("13-pool-taken", "unit/worker/pool-taker", "what another may have run before the store lost that"),
  tested(
    "13-pool-claimed",
    "system/pools/pool-losses",
    "that gave it back unsent: that Editor does not run it",
  ),
  tested("13-pool-sent", "system/pools/pool-losses", "that gave it back: unknown there"),
  tested("13-pool-asked", "system/pools/pool-losses", "that gave it back: unknown there"),
  tested(
    "13-pool-import",
    "system/pools/pool-losses",
    "the Editor that ran it is away: no other Editor runs it",
  ),
  tested(
    "13-pool-import-moved",
    "system/pools/pool-losses",
    "while the Editor that ran it says what it knows",
  ),
  tested("13-pool-opened", "unit/gateway/pool-keeper", "waits while any Editor is missing"),
  tested(
    "05-pool-change",
    "system/pools/pool-answers",
    "from before the caller's own change is not given to a call after it",
  ),
  tested("12-pool-parts", "unit/worker/executor", "that did not leave says nothing of the operation"),
  tested(
    "12-pool-other",
    "system/pools/pool-queues",
    "does not revoke there what its pool had back meanwhile",
  ),
  tested(
    "00-pool-tool",
    "system/pools/pool-answers",
    "does not change anything through an Editor where the tool of that name",
  ),
  tested(
    "13-pool-epoch",
    "system/pools/late-frames",
    "is not run behind the import, by when another Editor of the pool has run it",
    beneath("11-seat"),
  ),
  tested("12-pool-paused", "system/pools/drain", "and not begun, is its pool's again"),
  tested(
    "12-pool-away",
    "system/pools/pauses",
    "had taken before the pause does not begin when it comes back",
  ),
  tested("04-beginning", "unit/shared/editors/target", "is no name: the call was meant for another project"),
  tested("12-bridge-unclear", "system/unity-mcp/unity-mcp-connections", "nobody knows how it ended"),
  tested(
    "12-bridge-project",
    "system/unity-mcp/unity-mcp-editor",
    "another project's Editor on the port gets no command",
  ),
  tested("14-hostile-times", "system/editor/hostile-times", "a duration of 10^300 ms"),
  tested("15-pool-retired", "system/pools/pool-places", "which was retired meanwhile is found there"),
];

/** Rules of design and architecture, by the number that a patch's name begins with. */
export function ruleOf({ patch }: Pick<Mutation, "patch">): string {
  return `▲${Number(patch.slice(0, 2))}`;
}
