/**
 * Eight MCP clients of four principals on one Editor: one builds, three read in the background, four have edits that wait. Reads
 * end beside the build, edits take turns between principals, keep the order of their client, and each runs once.
 */
import { setTimeout as after } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, test } from "vitest";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { buildPlayer } from "../../../src/simulator/tools/long.js";
import { eventually } from "../../harness/eventually.js";
import { isLongForm } from "../../harness/long-form.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

/** The build goes on at least so long, s, and the reads with it. */
const BUILD_SECONDS = isLongForm ? 60 : 0;
/** Of each reader, at least. */
const READS = 20;
/** Of each client, sent while the others send theirs. */
const EDITS = 4;

let endBuild = (): void => undefined;
/** Occupies the main lane until the test ends it. */
const build = {
  ...buildPlayer,
  label: () => "build",
  run: (call: Parameters<typeof buildPlayer.run>[0]) => {
    call.progress({ progress: 1, total: 6, message: "Building scenes" });
    return new Promise<unknown>((resolve, reject) => {
      endBuild = () => resolve({ Success: true });
      call.signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
    });
  },
};

const { start } = useSystem();
const { open } = useTokenGateway((options) => start({ ...options, editor: { tools: [build] } }));

const call = async (client: Client, name: string, args: Record<string, unknown>): Promise<Answer> =>
  (await client.callTool({ name, arguments: args })).structuredContent as unknown as Answer;

interface Edit {
  name: string;
  principal: string;
  /** Its client, and the order in which that sent it. */
  client: number;
  number: number;
  logId: string;
  /** How many others its answer said were before it. */
  position: number;
}

/** Each time the turn is that of a principal which has had as few as any other that still waits. */
function unfair(ran: readonly Edit[]): string[] {
  const had = new Map<string, number>();
  return ran.flatMap(({ name, principal }, at) => {
    const waiting = new Set(ran.slice(at).map((edit) => edit.principal));
    const fewest = Math.min(...[...waiting].map((one) => had.get(one) ?? 0));
    const own = had.get(principal) ?? 0;
    had.set(principal, own + 1);
    return own === fewest
      ? []
      : [`${name} of ${principal}, which had had ${own}, before one that had had ${fewest}`];
  });
}

test("reads end before the build; edits alternate between principals, in the order of each client; positions are right", async () => {
  const { system, tokens, connect } = await open();
  const { bench, executions } = system;
  const of = new Map<string, string>();
  for (const principal of ["ann", "ben", "cem", "dee"]) of.set(principal, await tokens.create(principal));
  const client = (principal: string): Promise<Client> => connect(of.get(principal) ?? "");
  const builder = await client("ann");
  const readers = await Promise.all(["ann", "ben", "cem"].map(client));
  // Two clients of one principal have its one turn between them.
  const writers = await Promise.all(
    ["ben", "ben", "cem", "dee"].map(async (principal) => ({ principal, client: await client(principal) })),
  );

  const building = await call(builder, "build-player", { BuildTarget: "Android", timeout: 0 });
  const stateOfBuild = async () =>
    (await call(builder, "get_operation_status", { log_id: building.log_id })).state;
  await eventually(async () => (await stateOfBuild()) === "running", "the build runs");

  const lasts = after(BUILD_SECONDS * 1_000);
  let isOver = false;
  void lasts.then(() => {
    isOver = true;
  });
  const read = async (reader: Client, at: number): Promise<number> => {
    let reads = 0;
    for (; reads < READS || !isOver; reads += 1) {
      const text = `read ${reads} of ${at}`;
      const [tool, args] = reads % 2 === 0 ? ["ping", { Message: text }] : ["get-logs", { SearchText: text }];
      const answer = await call(reader, tool as string, { ...(args as object), timeout: 30 });
      expect(answer, text).toMatchObject({ status: "completed" });
      if (tool === "ping") expect(JSON.stringify(answer.result)).toContain(text);
    }
    return reads;
  };
  const edits: Edit[] = [];
  const edit = async (at: number, number: number): Promise<Edit> => {
    const { principal, client } = writers[at] as (typeof writers)[number];
    const name = `edit ${number} of client ${at}`;
    const answer = await call(client, "work", { Name: name, timeout: 0 });
    expect(answer, name).toMatchObject({
      status: "timeout",
      state: "queued",
      queue_position: expect.any(Number),
    });
    const sent = { ...{ name, principal, number }, client: at, logId: answer.log_id ?? "" };
    const edit = { ...sent, position: answer.queue_position ?? Number.NaN };
    edits.push(edit);
    return edit;
  };
  const write = async (at: number): Promise<void> => {
    for (let number = 0; number < EDITS; number += 1) await edit(at, number);
  };
  const [reads] = await Promise.all([
    Promise.all(readers.map(read)),
    Promise.all(writers.map((_, at) => write(at))),
  ]);
  // Alone: what its answer says can be compared.
  const last: Edit[] = [];
  for (const at of writers.keys()) last.push(await edit(at, EDITS));
  const shown = new Map<string, number | undefined>();
  for (const { logId, client } of edits) {
    const status = await call((writers[client] as { client: Client }).client, "get_operation_status", {
      log_id: logId,
    });
    shown.set(logId, status.queue_position);
  }
  expect(await stateOfBuild()).toBe("running");
  expect(bench.begun).toEqual([]);
  expect(reads.every((count) => count >= READS)).toBe(true);

  endBuild();
  for (const { logId, client } of edits) {
    const { client: writer } = writers[client] as { client: Client };
    const wait = { log_id: logId, wait: true, timeout: 30 };
    expect(await call(writer, "get_operation_result", wait)).toMatchObject({ status: "completed" });
  }
  expect(await call(builder, "get_operation_result", { log_id: building.log_id })).toMatchObject({
    status: "completed",
  });

  const ran = bench.begun.map((name) => edits.find((edit) => edit.name === name) as Edit);
  expect(unfair(ran)).toEqual([]);
  for (const at of writers.keys())
    expect(ran.filter(({ client }) => client === at).map(({ number }) => number)).toEqual(
      Array.from({ length: EDITS + 1 }, (_, number) => number),
    );
  // The build is before all of them.
  expect(ran.map(({ logId }) => shown.get(logId))).toEqual(ran.map((_, at) => at + 1));
  for (const one of last) {
    const before = ran
      .slice(0, ran.indexOf(one))
      .filter((other) => edits.indexOf(other) < edits.indexOf(one));
    expect(one.position, one.name).toBe(before.length + 1);
  }
  expect(["build", ...edits.map(({ name }) => name)].map(executions)).toEqual(
    new Array(edits.length + 1).fill(1),
  );
});
