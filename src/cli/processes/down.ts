/** `unity-broker down`: ends the private Redis. */
import { stopEmbeddedRedis } from "../../embedded-redis/embedded-redis.js";
import { orderlyEnd } from "../../shared/store/incarnation.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/processes.js";
import { readSettings } from "./settings.js";

export const down: Run<typeof declared.down> = async () => {
  const { dataDir } = readSettings();
  const stopped = await stopEmbeddedRedis({ dataDir, lastCommand: orderlyEnd() });
  console.log(stopped ? "The private Redis has ended; its data is kept." : "No private Redis was running.");
};
