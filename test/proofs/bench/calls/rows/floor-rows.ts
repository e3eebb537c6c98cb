/** What nobody can do without, and a bridge that remembers nothing; on a Redis of their own, as it is installed. */
import { defaultDirectories } from "../../../../../src/embedded-redis/directories.js";
import { ensureEmbeddedRedis } from "../../../../../src/embedded-redis/embedded-redis.js";
import { createProcesses } from "../../../../harness/processes/processes.js";
import { createDataDirectory } from "../../../../harness/redis/redis.js";
import type { Closers } from "../../closers.js";
import { startOwnProcess } from "../../floors/child-process.js";
import { bareQueueFloor, echoFloor, type Floor, flushFloor, pingFloor } from "../../floors/floors.js";
import { plainBridgeFloor } from "../../floors/plain-bridge.js";
import type { Row } from "../../measure/rounds.js";

/** `folder`: on the file system of the Editors' ledgers. */
export async function floorRows(closers: Closers, folder: string): Promise<Row[]> {
  const data = createDataDirectory();
  closers.add(() => data.remove());
  const { cacheDir } = defaultDirectories(process.env);
  const embedded = { dataDir: data.dataDir, cacheDir, env: process.env, say: console.error };
  const { address } = await ensureEmbeddedRedis(embedded);
  const processes = createProcesses();
  closers.add(() => processes.close());
  const file = new URL("../../floors/peer-process.ts", import.meta.url);
  const peer = startOwnProcess<{ port: number }>(file, { address }, process.env);
  processes.guard(peer.pid);
  closers.add(peer.close);
  const { port } = await peer.ready;
  const floors: Floor[] = [
    await echoFloor(port),
    await pingFloor(address),
    flushFloor(folder),
    await bareQueueFloor(address, 16),
    await plainBridgeFloor(port),
  ];
  for (const floor of floors) closers.add(floor.close);
  return floors.flatMap(({ rows }) => rows);
}
