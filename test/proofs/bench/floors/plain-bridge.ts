/** The rows of the plain bridge (plain-bridge-process.ts), by the same client as those of the broker. */
import { fileURLToPath } from "node:url";
import { openStdioClient } from "../../../harness/processes/process-clients.js";
import { createProcesses } from "../../../harness/processes/processes.js";
import type { Row } from "../measure/rounds.js";
import type { Floor } from "./floors.js";

const BRIDGE = fileURLToPath(new URL("plain-bridge-process.ts", import.meta.url));

/** `port`: of a peer that echoes requests (peer-process.ts), in the Editor's place. */
export async function plainBridgeFloor(port: number): Promise<Floor> {
  const processes = createProcesses();
  const started = processes.start("plain bridge", [String(port)], process.env, ["--import", "tsx", BRIDGE]);
  const client = await openStdioClient(started);
  const rowOf = (key: string, title: string, tool: string): Row => ({
    key,
    title,
    inFlight: 1,
    call: () => client.call(tool, { Text: "a note" }),
  });
  return {
    rows: [
      rowOf("sdk", "echo by the SDK's server", "echo"),
      rowOf("plain", "plain bridge: no record, no ledger", "note"),
    ],
    async close() {
      await client.close();
      await processes.close();
    },
  };
}
