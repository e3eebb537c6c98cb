/** docker-compose.yml's proxy before two gateways that are killed under load: nothing runs twice, and no client starts anew. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer } from "../../../src/shared/operation/answer.js";
import {
  type Composed,
  freePort,
  mcpClient,
  serve,
  startComposed,
} from "../../harness/processes/composed.js";
import { until } from "../../harness/processes/processes.js";
import { findHaProxy } from "../../harness/programs/haproxy.js";
import { compose } from "../../harness/redis/compose-file.js";

const CLIENTS = 6;
/** Of each client. */
const CALLS = 6;
/** So many calls have ended since the last kill. */
const KILL_AFTER = 9;
/** An answer that is cut off looks to this client like one that does not come. */
const LIMIT_MS = 3_000;

const found = await findHaProxy();
if ("missing" in found) console.log(`The tests behind a proxy are SKIPPED: ${found.missing}`);

/** The compose file's own configuration, with this machine's ports; answers where it listens. */
async function startProxy({ folder, processes }: Composed, gateways: readonly number[]): Promise<string> {
  if ("missing" in found) throw new Error(found.missing);
  const port = await freePort();
  const [first, second] = gateways;
  const file = join(folder, "haproxy.cfg");
  const content = compose()
    .configs.proxy.content.replace("bind :8787", `bind 127.0.0.1:${port}`)
    .replace("gateway gateway:8787", `gateway 127.0.0.1:${first}`)
    .replace("gateway-2 gateway-2:8787", `gateway-2 127.0.0.1:${second}`);
  writeFileSync(file, content);
  serve(found.file, ["-db", "-f", file], { processes, env: found.env });
  const url = `http://127.0.0.1:${port}`;
  await until(
    "the proxy has a gateway",
    async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok,
  );
  return url;
}

test.skipIf("missing" in found)(
  "gateways are killed in turn: each call runs once, and its session goes on with the other one",
  async () => {
    const composed = await startComposed();
    const editor = await composed.editor("Game");
    await composed.worker();
    const gateways = [await composed.gateway(), await composed.gateway()];
    const url = await startProxy(
      composed,
      gateways.map(({ port }) => port),
    );
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => mcpClient(`${url}/mcp`, composed.headers, LIMIT_MS)),
    );
    await until("the Editor is there", async () => {
      const [answer] = await Promise.all(clients.map((client) => client.call("list_editors", {})));
      return (answer as unknown as { editors: { connected: boolean }[] }).editors.some(
        ({ connected }) => connected,
      );
    });

    let lost = 0;
    const ask = async (client: (typeof clients)[number], MenuItemPath: string): Promise<Answer> => {
      for (;;) {
        try {
          const answer = await client.call("execute-menu-item", { MenuItemPath, timeout: 2 });
          if (answer.status !== "timeout") return answer;
        } catch {
          // The gateway that had it is gone: the client says the same again, once there is one.
          lost += 1;
          const health = () => fetch(`${url}/healthz`).catch(() => undefined);
          await until("a gateway is behind the proxy", async () => (await health())?.ok);
        }
      }
    };
    const paths = clients.map((_, client) =>
      Array.from({ length: CALLS }, (_, call) => `Simulator/Block For 0.2${client}${call}1 Seconds`),
    );
    let ended = 0;
    let kills = 0;
    let killing: Promise<void> = Promise.resolve();
    const killNext = async (): Promise<void> => {
      const at = kills % gateways.length;
      const { port, process } = gateways[at] as (typeof gateways)[number];
      kills += 1;
      await process.kill("SIGKILL");
      gateways[at] = await composed.gateway(port);
    };
    const answers = await Promise.all(
      clients.map(async (client, at) => {
        const all: Answer[] = [];
        for (const path of paths[at] ?? []) {
          all.push(await ask(client, path));
          ended += 1;
          if (ended % KILL_AFTER === 0) killing = killing.then(killNext);
        }
        return all;
      }),
    );
    await killing;

    expect(answers.flat().map(({ status }) => status)).toEqual(paths.flat().map(() => "completed"));
    const began = editor.executions().map(({ what }) => what);
    expect(began.sort()).toEqual(paths.flat().sort());
    expect(kills).toBe((CLIENTS * CALLS) / KILL_AFTER);
    expect(lost, "calls were under way in a gateway that was killed").toBeGreaterThan(0);
    expect(await composed.processes.close()).toEqual([]);
  },
);
