/** Looks for a newer redis-server of the distribution, in a separate process so that no command waits for it. */
import { whyNotServing } from "./binary.js";
import { renewCached } from "./cached-redis.js";

const [tree = ""] = process.argv.slice(2);
await renewCached(tree, process.env, (unpacked) => whyNotServing(unpacked, process.env), Date.now());
