/** Which interruptions the table of design §8 allows, by what really happened to that Editor meanwhile. */
import type { CallAnswer } from "../../../harness/processes/process-clients.js";
import { acceptedAt, type ChaosIntent } from "../intent.js";
import type { ChaosWorld } from "../world.js";
import { storeWasLost } from "./events.js";

const ENDS = /^Editor (SIGKILL|loses its power|quits)$/;
const LEDGER = /^ledger /;

/** The cell of the table, as the report counts it; undefined: none allows it. */
export function whyInterrupted(
  world: ChaosWorld,
  intent: ChaosIntent,
  reported: CallAnswer,
  at: number,
): string | undefined {
  const { name, plain } = intent.editor;
  const from = acceptedAt(intent, reported);
  const around = world.events.around(name, from, at);
  const happened = (kinds: RegExp): boolean => around.some(({ kind }) => kinds.test(kind));

  if (intent.isRead) return undefined;
  if (plain) {
    // Its connection ended behind the call, another owner took the Editor while the first one hung and still held
    // its own, or the store forgot what the sent.log knows.
    if (world.witness.ends(name, from, at) > 0) return "no ledger: connection lost";
    if (world.witness.begins(name, from, at) > 0) return "no ledger: another owner";
    // The same call may have been sent long before, in a store that was lost since.
    return storeWasLost(world.events) ? "no ledger: store lost" : undefined;
  }
  if (reported.error_type === "domain_reload")
    return happened(/^domain reload$/) && !intent.isResumable ? "domain reload" : undefined;
  // A rolled back ledger is one of an Editor that was ended, too.
  if (happened(LEDGER)) return "ledger lost";
  // `editor_gone`: somebody who had joined it cancelled it before the next session could tell its end.
  if (/^editor_(gone|exit)$/.test(String(reported.error_type)))
    return happened(ENDS) ? "Editor ended while it ran" : undefined;
  const isForgotten = reported.error?.toString().startsWith("The Editor was restarted and does not know");
  if (isForgotten) return happened(ENDS) ? "Editor ended before it had journalled it" : undefined;
  return undefined;
}
