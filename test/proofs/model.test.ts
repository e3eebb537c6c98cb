/**
 * The exhaustive model check in its short form (docs/proofs/model.md; `npm run model` is the long one): every state that each
 * scenario can reach, up to the first 3 000, over the real pure functions. With all rules on nothing may go wrong anywhere; with a rule off
 * the exploration must find the schedule that the rule prevents.
 */
import { describe, expect, test } from "vitest";
import { isLongForm } from "../harness/long-form.js";
import { explore } from "./model/explore.js";
import { KNOWN, SCENARIOS } from "./model/scenarios.js";
import { SWITCHES, type SwitchName } from "./model/switches.js";

/** The breadth of the largest scenarios waits for the long form: the nearest states are looked at first. */
const MOST_STATES = isLongForm ? 1_000_000 : 3_000;

const aims = SCENARIOS.flatMap((scenario) => scenario.aimedAt.map((off) => ({ off, scenario })));

describe("with every rule", () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))("%s", (_name, scenario) => {
    const { violation, isComplete, states } = explore(scenario, { off: null }, MOST_STATES);
    expect(violation).toBeUndefined();
    expect(isComplete || states >= MOST_STATES).toBe(true);
    if (isLongForm) expect(isComplete).toBe(true);
  });
});

describe("without a rule", () => {
  test.each(
    aims.map(({ off, scenario }) => [SWITCHES[off].schedule, SWITCHES[off].without, off, scenario] as const),
  )("schedule %s: %s", (_schedule, _without, off, scenario) => {
    const { violation } = explore(scenario, { off });
    expect(violation?.fault).toBe(FOUND[off]);
  });

  test("each rule that can be off has a scenario", () => {
    expect(aims.map(({ off }) => off).sort()).toEqual(Object.keys(SWITCHES).sort());
  });
});

/** What each missing rule leads to. */
const FOUND: Readonly<Record<SwitchName, string>> = {
  lateCancelTakesBack: "#3 gets op1, which #1 got before it was sent",
  cancelledIsDelivered: "op2 executes an intent that op1 has executed",
  crossingIgnored: "op2 executes an intent that op1 has executed",
  resetIgnored: "op2 executes an intent that op1 has executed",
  deliveredIsRead: "op2 executes an intent that op1 has executed",
  slowIsRead: "op2 executes an intent that op1 has executed",
  measuredFromReading: "op2 executes an intent that op1 has executed",
  proxiedIsRead: "op2 executes an intent that op1 has executed",
  namingProvesNothing: "#3 gets op1, which its caller has read",
  ownAnswerConfirms: "op2 executes an intent that op1 has executed",
  joinersAreNotOwed: "op2 executes an intent that op1 has executed",
  debtsEnd: "op3 executes an intent that op1 has executed",
  eachAskingIsOwed: "#3 gets op1, which its caller has read",
  oneStateless: "op2 executes an intent that op1 has executed",
  readersAreReplayed: "#2 gets op1, which its caller has read",
  owedToNobodyAnswers: "#2 gets op1, which is owed to nobody",
  askersForgotten: "op2 executes an intent that op1 has executed",
  undeliveredNeverAges: "#2 gets op1, which is too old",
  cancelledIsJoined: "#3 gets op1, which its user has cancelled",
  timeoutsAreMeant: "op2 executes an intent that op1 has executed",
  hungUpBegins: "op2 executes an intent that op1 has executed",
  noForcedIdentity: "op3 executes an intent that op2 has executed",
  afterAtSending: "op2 executes an intent that op1 has executed",
  onlyWhatIsLater: "op3 executes an intent that op2 has executed",
  knownIsOlder: "op2 executes an intent that op1 has executed",
  forcedTakesOld: "op3 takes the outcome of what it supersedes",
  unknownNeverStarted: "op3 begins although it is expired",
  noFence: "op1 is journalled for an owner that another has replaced",
  noRevoke: "op3 begins although it is interrupted",
  sentInIgnored: "op1 begins twice",
  lossUnnoticed: "op1 begins twice",
  noRaise: "everything has come to rest, and op1 stays queued",
  nonceIgnored: "op1 is journalled for an owner that another has replaced",
  interruptedMayRepeat: "op2 repeats op1, whose outcome is unknown",
  noClaimChecks: "op1 was completed, and is now dispatched",
  jobIdsReused: "everything has come to rest, and op2 stays queued",
  targetFirst: "op2 executes an intent that op1 has executed",
  alwaysJoins: "#2 joins op1, which is too old for it",
  windowFromTheEnd: "op2 executes an intent that op1 has executed",
  acknowledgedAtOnce: "everything has come to rest, and the outcome of op1 is lost",
  silentAttachment: "#2 gets op1 as if it had been executed for it",
  lostOutcomesAreFresh: "#2 gets op1, which #1 got before it was sent",
  restoredAnswers: "#2 gets op1, which #1 got before it was sent",
  repeatableReplaysDelivered: "#2 gets op1, which #1 got before it was sent",
  marksIgnored: "#2 gets op1, which is older than what its caller has changed",
  anyEditorsRunAnswers: "#2, which names Editor 2, gets what another Editor did",
  forcedSubmitsAgain: "op3 executes an intent that op2 has executed",
  refusalShowsNothing: "op3 executes an intent that op2 has executed",
  deliveredAfterWriting: "#2 gets op1, which #1 got before it was sent",
  newestOfAllOnly: "op3 executes an intent that op1 has executed",
  poolsForgetLosses: "op1 begins twice, in two Editors",
  epochKept: "op1 begins twice, in two Editors",
  revokedGoesBack: "it never comes to rest",
  sentGoesBack: "op1 begins twice, in two Editors",
};

// Found with every rule on; docs/proofs/model.md says why each stays. One that is fixed moves to SCENARIOS.
describe("not defended", () => {
  test.each(KNOWN.map((scenario) => [scenario.name, scenario] as const))("%s", (_name, scenario) => {
    expect(explore(scenario, { off: null }).violation).toBeDefined();
  });
});
