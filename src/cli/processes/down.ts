/** `unity-broker down`: ends the background brokers and the private Redis of this user. */
import { stopEmbeddedRedis } from "../../embedded-redis/embedded-redis.js";
import { orderlyEnd } from "../../shared/store/schema.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/processes.js";
import { brokerFolders } from "../pipe/broker-place.js";
import { endBroker } from "../pipe/reach-broker.js";
import { VERSION } from "../version.js";
import { readSettings } from "./settings.js";

export const down: Run<typeof declared.down> = async () => {
  const { dataDir } = readSettings();
  const ended = await Promise.all(brokerFolders(dataDir).map((folder) => endBroker(folder, VERSION)));
  const brokers = ended.filter((how) => how !== "none").length;
  const stopped = await stopEmbeddedRedis({ dataDir, lastCommand: orderlyEnd() });
  if (brokers > 0) console.log(brokers === 1 ? "The broker has ended." : `${brokers} brokers have ended.`);
  if (ended.includes("killed"))
    console.log("It did not answer, and was killed: its operations are not run twice.");
  console.log(stopped ? "The private Redis has ended; its data is kept." : "No private Redis was running.");
};
