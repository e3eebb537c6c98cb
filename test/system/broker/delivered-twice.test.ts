/** An outcome that one client was told twice: giving up the later answer leaves the earlier one told. */
import { expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http, stdio } = useMcpCallers();

const RUN = { SimulatedTests: 1, SimulatedSeconds: 0 };

test.each([
  { where: "HTTP", connect: http },
  { where: "stdio", connect: stdio },
])(
  "▲6 over $where the poll of told tests is answered and given up; the next call runs them",
  async ({ connect }) => {
    const system = await start();
    const { call, giveUp } = await connect(system.gateway);
    const { log_id = "" } = await call("run-tests", RUN, 5);
    expect(await call("get_operation_result", { log_id }, 7)).toMatchObject({ status: "completed" });
    await giveUp(7);
    expect((await system.record(log_id)).firstDeliveredAt).toBeDefined();
    const again = await call("run-tests", RUN, 9);
    expect(again).toMatchObject({ status: "completed" });
    expect(again).not.toHaveProperty("deduplicated");
  },
);
