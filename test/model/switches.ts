/** The rules that can be switched off, one at a time, to see that the exploration finds what they prevent. */

export interface Switch {
  /** The schedule of docs/model.md that it brings back. */
  schedule: string;
  rule: string;
  /** What the system does without it. */
  without: string;
}

export const SWITCHES = {
  anyMessageConfirms: {
    schedule: "A",
    rule: "▲7 a later message proves nothing",
    without: "over HTTP any later message of the caller confirms what it was told",
  },
  olderRequestsCount: {
    schedule: "B",
    rule: "▲7 newer requests only",
    without: "a request that was sent earlier and comes late counts as a new wish",
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
  everythingIsAncestor: {
    schedule: "F",
    rule: "▲10 (b) the ancestor walk",
    without: "whatever the Editor names is taken for something that the call was wished after",
  },
  noAncestors: {
    schedule: "F, the other way",
    rule: "▲10 (b) the ancestor walk",
    without: "nothing that the Editor names is known to be older than the call",
  },
  forcedTakesOld: {
    schedule: "G",
    rule: "▲10 (b) a forced run never takes what it supersedes",
    without: "a forced run is treated as any other when the Editor names another operation",
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
    rule: "▲4 an open target finds the hash's newest operation",
    without: "a call without an Editor is one for the only Editor that is there now",
  },
  alwaysJoins: {
    schedule: "R",
    rule: "▲5 reads and idempotent calls join only what saw the same",
    without: "every call joins an open operation of its hash",
  },
  windowFromTheEnd: {
    schedule: "S",
    rule: "▲6 the window begins with the first delivery",
    without: "the replay window begins when the operation ends",
  },
  acknowledgedAtOnce: {
    schedule: "V",
    rule: "▲14 acknowledge after the durable write",
    without: "the Editor is told as soon as the write was answered",
  },
} as const satisfies Record<string, Switch>;

export type SwitchName = keyof typeof SWITCHES;

/** The rules of one exploration: at most one is off. */
export interface Rules {
  off: SwitchName | null;
}
