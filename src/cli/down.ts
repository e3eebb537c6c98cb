/** `unity-broker down`: ends the private Redis. */
import { stopEmbeddedRedis } from "../embedded-redis/embedded-redis.js";
import { orderlyEnd } from "../shared/redis/incarnation.js";
import { command } from "./command.js";
import { readSettings } from "./runtime.js";

export const down = command({
  meta: { name: "down", description: "Ends the private Redis of this user; its data stays" },
  async run() {
    const { dataDir } = readSettings();
    const stopped = await stopEmbeddedRedis({ dataDir, lastCommand: orderlyEnd() });
    console.log(stopped ? "The private Redis has ended; its data is kept." : "No private Redis was running.");
  },
});
