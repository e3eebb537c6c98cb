/** The real way of a call: Redis, a gateway over HTTP, a worker and an Editor with the suite's tools, each a process. */
import { openInstallation } from "../harness/processes/installation.js";
import { openHttpClient } from "../harness/processes/process-clients.js";
import { until } from "../harness/processes/processes.js";
import { startOwnProcess } from "../proofs/bench/floors/child-process.js";
import { FIXTURES } from "./tools.js";

const EDITOR = new URL("./editor-process.ts", import.meta.url);

/**
 * Answers as an installed broker gives them, which asks its user before it runs what may destroy something. A busy machine may take
 * longer than a second.
 */
const SETTINGS = {
  UNITY_BROKER_ANSWERS: "",
  UNITY_BROKER_CONFIRM_DESTRUCTIVE: "true",
  UNITY_BROKER_WAIT: "4",
};

export interface ConformanceWorld {
  url: string;
  /** Ends everything; rejects when something did not end as it should, or something is left. */
  close(): Promise<void>;
}

export async function startConformanceWorld(): Promise<ConformanceWorld> {
  const installation = await openInstallation({ env: SETTINGS });
  const { processes, folder, env } = installation;
  const editorsFolder = env.UNITY_BROKER_EDITORS_DIR ?? "";
  const editor = startOwnProcess<object>(EDITOR, { folder, editorsFolder }, env);
  processes.guard(editor.pid);
  const close = async (): Promise<void> => {
    await editor.close();
    // The suite leaves what it began.
    const faults = (await installation.close()).filter((fault) => !fault.includes("{ujb}:open:"));
    if (faults.length > 0) throw new Error(`left behind or ended badly:\n${faults.join("\n")}`);
  };
  try {
    await editor.ready;
    const worker = await installation.worker("worker");
    const gateway = await installation.gateway("gateway");
    await worker.start();
    await gateway.start();
    const client = await openHttpClient(gateway.url);
    await until("the suite's tools are listed", async () => {
      const { tools } = (await client.request("tools/list")) as { tools: { name: string }[] };
      const names = tools.map(({ name }) => name);
      return FIXTURES.every(({ name }) => names.includes(name));
    });
    await client.close();
    return { url: gateway.url(), close };
  } catch (error) {
    console.error(processes.logs());
    await close().catch(() => undefined);
    throw error;
  }
}
