/** The rules that can be switched off, one at a time, to see that the exploration finds what they prevent. */

export interface Switch {
  /** The schedule of docs/proofs/model.md that it brings back. */
  schedule: string;
  rule: string;
  /** What the system does without it. */
  without: string;
}

export const SWITCHES = {
  lateCancelTakesBack: {
    schedule: "delivered: what comes later",
    rule: "delivered: what comes after the last byte takes nothing back",
    without: "a cancellation that comes after its answer takes the delivery back",
  },
  cancelledIsDelivered: {
    schedule: "delivered: cancelled before",
    rule: "delivered: for a request that was not cancelled before",
    without: "the answer to a request that was cancelled counts as delivered",
  },
  crossingIgnored: {
    schedule: "delivered: a crossing",
    rule: "delivered: a timeout that is told within a second takes a changing tool's outcome back",
    without: "what has crossed with the cancellation by a client whose time was over counts as delivered",
  },
  resetIgnored: {
    schedule: "delivered: a reset",
    rule: "delivered: a reset within a second takes a changing tool's outcome back",
    without: "what was written into a connection that is reset counts as delivered",
  },
  deliveredIsRead: {
    schedule: "read, W16",
    rule: "read: delivered is not enough",
    without: "whatever was delivered counts as read",
  },
  slowIsRead: {
    schedule: "read: within 10 s, W17",
    rule: "read: within 10 s",
    without: "however long the request was open, its answer counts as read",
  },
  measuredFromReading: {
    schedule: "read: a stall, W18",
    rule: "read: not for requests that waited while the process stood still",
    without: "how long a request took is counted from when the process read it",
  },
  proxiedIsRead: {
    schedule: "read: a direct connection",
    rule: "read: over a direct connection",
    without: "what a proxy took within 10 s counts as read",
  },
  namingProvesNothing: {
    schedule: "read: by name",
    rule: "read: its log_id named afterwards",
    without: "who names the log_id of what it was given has not read it",
  },
  ownAnswerConfirms: {
    schedule: "read: named afterwards, W19",
    rule: "read: never by the answer to the naming itself",
    without: "the answer to a message that names the log_id counts as read",
  },
  joinersAreNotOwed: {
    schedule: "owed: to every caller that asked",
    rule: "owed: to every caller that asked, joined or waited",
    without: "an outcome is owed to the caller that created the operation only",
  },
  debtsEnd: {
    schedule: "owed: what comes after",
    rule: "owed: who is owed an outcome is owed that of the run that replaces it",
    without: "a run that its caller means anew ends what others are owed",
  },
  eachAskingIsOwed: {
    schedule: "owed: settled by reading",
    rule: "owed: a caller that reads settles its earlier askings",
    without: "each request is owed the outcome by itself",
  },
  oneStateless: {
    schedule: "owed: without a session",
    rule: "owed: an asker without a session is its own caller",
    without: "all requests without a session are one caller",
  },
  readersAreReplayed: {
    schedule: "again: has read",
    rule: "again: a changing tool runs if this caller has read the outcome",
    without: "who has read an outcome is given it again",
  },
  owedToNobodyAnswers: {
    schedule: "again: owed to nobody",
    rule: "again: a changing tool runs if the outcome is owed to nobody",
    without: "an outcome that everybody has read who asked for it answers others",
  },
  askersForgotten: {
    schedule: "again: asked and never got it",
    rule: "again: for the whole retention if this caller asked for it and never got it",
    without: "the window that somebody else's answer began ends for everybody",
  },
  undeliveredNeverAges: {
    schedule: "again: younger than it took",
    rule: "again: a repeatable outcome answers only while it is younger than the time that it took",
    without: "an outcome of tests that nobody got answers for the whole retention",
  },
  cancelledIsJoined: {
    schedule: "again: cancelled by its user",
    rule: "again: a caller that cancelled its request for a run does not join it",
    without: "a call joins the run that its own user has cancelled",
  },
  timeoutsAreMeant: {
    schedule: "again: a timeout is no such cancellation",
    rule: "again: a reason that names a timeout is no such cancellation",
    without: "a client whose time was over does not find its run again",
  },
  hungUpBegins: {
    schedule: "B",
    rule: "a request whose connection has closed before it was accepted does not begin",
    without: "a request that was given up, and comes late, is accepted",
  },
  noForcedIdentity: {
    schedule: "C",
    rule: "▲8 the identity of a forced run",
    without: "the same force_new again is another run",
  },
  afterAtSending: {
    schedule: "D",
    rule: "▲10 (b) frozen `after`",
    without: "`after` is computed when the operation is sent",
  },
  onlyWhatIsLater: {
    schedule: "E",
    rule: "▲10 (b) compared for equality",
    without:
      "the Editor looks for what came after `after` in its chain; where that is not in it, nothing did",
  },
  knownIsOlder: {
    schedule: "W12, F",
    rule: "▲10 (b) entered before, not known",
    without:
      "whatever the store knows when the Editor names it is taken for something that the call was made after",
  },
  forcedTakesOld: {
    schedule: "G",
    rule: "▲10 (b) a forced run never takes what it supersedes",
    without: "what a forced run supersedes is decided on as any other operation that the Editor names",
  },
  unknownNeverStarted: {
    schedule: "J",
    rule: "▲12 no verdict without a journalled revocation",
    without: "what the Editor does not know never started, and is ended as that",
  },
  noFence: {
    schedule: "J, two owners",
    rule: "▲11 the fence",
    without: "the Editor does not compare fences",
  },
  noRevoke: {
    schedule: "K",
    rule: "▲12 revoke first",
    without: "unknown in another Editor session is called interrupted at once",
  },
  sentInIgnored: {
    schedule: "L",
    rule: "▲12 the session is stored at sending",
    without: "what the Editor does not know is sent again, in whatever session",
  },
  lossUnnoticed: {
    schedule: "L, a copy of the ledger",
    rule: "▲10 (c) a journal behind what was seen of it",
    without: "nobody compares what an Editor says of its journal with what was seen of it",
  },
  noRaise: {
    schedule: "M",
    rule: "▲10 (a) the lease holder raises the epoch",
    without: "an owner that is refused for its epoch gives up",
  },
  nonceIgnored: {
    schedule: "M, equal epochs",
    rule: "▲11 equal epochs with another nonce are refused",
    without: "only epochs are compared",
  },
  interruptedMayRepeat: {
    schedule: "N",
    rule: "▲9 unknown stays unknown",
    without: "an interrupted operation is treated like a failed one",
  },
  noClaimChecks: {
    schedule: "O",
    rule: "▲1 a claim needs a record that is accepted or queued",
    without: "any job makes its record dispatched",
  },
  jobIdsReused: {
    schedule: "P",
    rule: "▲2 job ids are never used again",
    without: "the job's id is the hash",
  },
  targetFirst: {
    schedule: "Q",
    rule: "▲4 an open target finds the operation, whatever Editors there are",
    without: "a call without an Editor is one for the only Editor that is there now",
  },
  alwaysJoins: {
    schedule: "R",
    rule: "▲5 what is not mutating joins only what saw the same",
    without: "every call joins an open operation of its hash",
  },
  windowFromTheEnd: {
    schedule: "S",
    rule: "again: for 15 minutes after the first delivery",
    without: "the replay window begins when the operation ends",
  },
  acknowledgedAtOnce: {
    schedule: "V",
    rule: "▲14 acknowledge after the durable write",
    without: "the outcome is acknowledged as soon as the write was answered",
  },
  silentAttachment: {
    schedule: "W3",
    rule: "invariant 7, ▲10 (b) every answer by another's execution says so",
    without: "a call that another operation answers for is answered as if it had run itself",
  },
  lostOutcomesAreFresh: {
    schedule: "W3, at the Editor's answer",
    rule: "▲6 a restored outcome of a repeatable tool answers nobody",
    without: "what the Editor names counts as fresh, though the store had lost the deliveries",
  },
  restoredAnswers: {
    schedule: "W3, after the import",
    rule: "▲6 a restored outcome of a repeatable tool answers nobody",
    without: "what a hello brought back counts as fresh, though the store had lost the deliveries",
  },
  repeatableReplaysDelivered: {
    schedule: "W5",
    rule: "▲6 a repeatable outcome answers until it was delivered to anybody",
    without: "an outcome of tests answers every caller, as if it had not been delivered",
  },
  marksIgnored: {
    schedule: "W6",
    rule: "▲6 nothing is known to have changed since its end",
    without: "where the Editor stands does not matter",
  },
  anyEditorsRunAnswers: {
    schedule: "W9",
    rule: "▲4 a call that names an Editor asks that Editor's operations",
    without: "any Editor's run answers",
  },
  forcedSubmitsAgain: {
    schedule: "W13",
    rule: "▲10 (b) a forced operation is looked for by what it supersedes",
    without: "a forced run always submits again after what the Editor names",
  },
  refusalShowsNothing: {
    schedule: "W14",
    rule: "▲8 the refusal shows the newest outcome",
    without: "a refused force_new says only which value to use",
  },
  deliveredAfterWriting: {
    schedule: "W20",
    rule: "▲6 delivered from before the first byte",
    without: "the delivery of tests is recorded after the answer has been written",
  },
  newestOfAllOnly: {
    schedule: "W21",
    rule: "▲4 the newest of each Editor",
    without: "only the newest operation of all is asked",
  },
  poolsForgetLosses: {
    schedule: "H",
    rule: "▲13 what a pool accepted before a loss waits until its Editors are back",
    without: "an operation from before a loss is taken, claimed and sent as one of the present",
  },
  epochKept: {
    schedule: "J, and the store goes back",
    rule: "▲13 after a loss an owner imports under a new epoch",
    without: "what the Editor knows is imported under the epoch of earlier connections",
  },
  revokedGoesBack: {
    schedule: "I",
    rule: "▲13 only what was never sent goes back to a pool",
    without: "what an Editor was told never to run goes back to its pool",
  },
  sentGoesBack: {
    schedule: "J, a pool",
    rule: "▲13 only what was never sent goes back to a pool",
    without: "what was sent to an Editor goes back to its pool when that Editor is away",
  },
} as const satisfies Record<string, Switch>;

export type SwitchName = keyof typeof SWITCHES;

/** The rules of one exploration: at most one is off. */
export interface Rules {
  off: SwitchName | null;
}
