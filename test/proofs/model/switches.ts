/** The rules that can be switched off, one at a time, to see that the exploration finds what they prevent. */

export interface Switch {
  /** The schedule of docs/proofs/model.md that it brings back. */
  schedule: string;
  rule: string;
  /** What the system does without it. */
  without: string;
}

export const SWITCHES = {
  anyMessageConfirms: {
    schedule: "A",
    rule: "▲7 a later message proves nothing",
    without: "over HTTP any later message of the caller confirms what it received",
  },
  olderRequestsCount: {
    schedule: "B",
    rule: "▲7 newer requests only",
    without: "a request that was sent earlier and comes late counts as a new intent",
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
  nothingEnteredBefore: {
    schedule: "W1",
    rule: "▲10 (b) what entered before is no answer",
    without:
      "whatever the Editor names is decided on as if the call came now, however long it has been known",
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
    rule: "▲6 the window begins with the first telling",
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
  proofOutlivesGateway: {
    schedule: "W15",
    rule: "▲7 proofs without a name count within the gateway's life",
    without:
      "the next process is the same caller, so that its first message proves what the one before received",
  },
  quickHttpAnswersProve: {
    schedule: "W16",
    rule: "▲7 over HTTP naming is the only proof",
    without: "over HTTP any later message proves that a quick answer was read",
  },
  slowAnswersProve: {
    schedule: "W17",
    rule: "▲7 slow answers are proven by naming only",
    without: "over stdio any later message proves that any answer was read",
  },
  measuredFromReading: {
    schedule: "W18",
    rule: "▲7 counted from when the client can have sent it",
    without: "how long a request took is counted from when it was read",
  },
  ownAnswerConfirms: {
    schedule: "W19",
    rule: "▲7 never by its own answer",
    without: "the answer to a message that names the log_id counts as read",
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
  oldProofsCount: {
    schedule: "▲7 across incarnations",
    rule: "▲7 after a change of incarnation no delivery and no proof from before counts",
    without: "what a store that went back says of deliveries is believed",
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
  askersForgotten: {
    schedule: "▲6 who asked",
    rule: "▲6 callers that asked and received no outcome get it for the whole retention",
    without: "the window that somebody else's answer began ends for everybody",
  },
} as const satisfies Record<string, Switch>;

export type SwitchName = keyof typeof SWITCHES;

/** The rules of one exploration: at most one is off. */
export interface Rules {
  off: SwitchName | null;
}
