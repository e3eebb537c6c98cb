/** Every schedule that a mutation may name. */
import { SCENARIOS } from "../never-twice/scenarios/scenarios.js";
import { STORIES } from "../never-twice/scenarios/stories.js";
import { ofScenario, type Schedule } from "./schedule.js";
import { CALLS } from "./schedules/calls.js";
import { CHAINS } from "./schedules/chains.js";
import { LOSSES } from "./schedules/losses.js";
import { OWNERS } from "./schedules/owners.js";
import { REPLAYS } from "./schedules/replays.js";
import { SENDING } from "./schedules/sending.js";

export const SCHEDULES: readonly Schedule[] = [
  ...CALLS,
  ...REPLAYS,
  ...CHAINS,
  ...SENDING,
  ...OWNERS,
  ...LOSSES,
  ...[...SCENARIOS, ...STORIES].map((scenario) => ofScenario(scenario)),
];
