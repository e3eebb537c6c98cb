/** Everything that may happen next. */

import { gatewaySteps } from "./broker/gateway.js";
import { callerSteps } from "./caller.js";
import { editorSteps } from "./editor.js";
import { faultSteps } from "./faults.js";
import type { Offer, StepKind } from "./offer.js";
import { workerSteps } from "./owner/worker.js";
import type { Facts } from "./state/facts.js";
import type { State } from "./state/state.js";
import type { Rules } from "./switches.js";

export interface Step {
  kind: StepKind;
  says: string;
  to: State;
}

/** In an order that depends on the state alone, so that numbers can describe a path. */
export function stepsOf(state: State, facts: Facts, rules: Rules): Step[] {
  const steps: Step[] = [];
  const grown = { version: state.version + 1 };
  const offer: Offer = (kind, says, changes) => {
    const { version } = changes.store && changes.store.records !== state.store.records ? grown : state;
    steps.push({ kind, says, to: { ...state, version, ...changes } });
  };
  gatewaySteps(state, facts, rules, offer);
  workerSteps(state, facts, rules, offer);
  editorSteps(state, facts, rules, offer);
  callerSteps(state, facts, offer);
  faultSteps(state, facts, offer);
  return steps;
}
