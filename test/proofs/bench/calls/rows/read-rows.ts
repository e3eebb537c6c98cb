/** Reads that need no main thread: while the Editor is idle, and while its main lane builds a player. */
import { until } from "../../../../harness/processes/processes.js";
import type { Home } from "../../clients/home.js";
import type { Closers } from "../../closers.js";
import type { Row } from "../../measure/rounds.js";

/** Longer than any block, s: each build is cancelled after its block. */
const BUILD_SECONDS = 600;

/** `reads`: calls of the Editor's `ping`, which runs in the background lane. */
export async function readRows(closers: Closers, home: Home): Promise<Row[]> {
  const reader = await home.client();
  closers.add(() => reader.close());
  const builder = await home.client();
  closers.add(() => builder.close());

  let lastRead = 0;
  const call = async (): Promise<void> => {
    lastRead += 1;
    const reported = await reader.call("ping", { Message: `read ${lastRead}`, timeout: 30 });
    if (reported.status !== "completed") throw new Error(`not completed: ${JSON.stringify(reported)}`);
  };

  let lastBuild = 0;
  const build = async (): Promise<() => Promise<void>> => {
    lastBuild += 1;
    // A build cannot be cancelled: the rest of its time would be waited for.
    const args = { SimulatedTests: lastBuild, SimulatedSeconds: BUILD_SECONDS };
    const { log_id } = await builder.call("run-tests", { ...args, timeout: 0 });
    const stateOf = async (): Promise<unknown> =>
      (await builder.call("get_operation_status", { log_id })).state;
    await until("the build runs", async () => (await stateOf()) === "running");
    return async () => {
      const state = await stateOf();
      if (state !== "running") throw new Error(`the build did not last as long as the reads: ${state}`);
      await builder.call("cancel_operation", { log_id });
      await until("the build is cancelled", async () => (await stateOf()) === "cancelled");
    };
  };
  return [
    { key: "reads", title: "a read in the background lane", inFlight: 1, call },
    {
      key: "reads-beside-build",
      title: "a read while the main lane builds",
      inFlight: 1,
      begin: build,
      call,
    },
  ];
}
