/** Every scenario; one line each is the registration. */
import type { Scenario } from "./scenario.js";
import { brokerKilled } from "./scenarios-broker.js";
import {
  abortBeforeTheEnd,
  doubledOnTheWay,
  forceNewAgain,
  halfOpenConnection,
  manyAtOnce,
  reissueAfterAnother,
} from "./scenarios-clients.js";
import {
  gatewayKilled,
  gatewayKilledAtCreation,
  interruptedAndRetried,
  redisKilled,
  stdioKilled,
  workerHangs,
  workerKilled,
} from "./scenarios-kills.js";
import { jobByHand } from "./scenarios-manual-jobs.js";
import { repeatedByAll, repeatedUnderFire } from "./scenarios-repeatable.js";

export const SCENARIOS: readonly Scenario[] = [
  reissueAfterAnother,
  abortBeforeTheEnd,
  halfOpenConnection,
  manyAtOnce,
  doubledOnTheWay,
  forceNewAgain,
  gatewayKilled,
  gatewayKilledAtCreation,
  workerKilled,
  workerHangs,
  stdioKilled,
  brokerKilled,
  redisKilled,
  interruptedAndRetried,
  jobByHand,
  repeatedByAll,
  repeatedUnderFire,
];
