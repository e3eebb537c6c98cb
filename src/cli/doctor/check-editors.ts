/** Checks the Unity Editors: their endpoint files, the connection to each, its tools, and one call that really runs. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { BROKER_TOOLS } from "../../gateway/mcp/tools/broker-tools.js";
import { diagnoseFile } from "../../shared/editors/refused-endpoint.js";
import { createEndpointFolder } from "../../worker/discovery/endpoint-folder.js";
import type { BrokerClient } from "../client/broker-client.js";
import { editorsIn } from "../client/render.js";
import type { Settings } from "../processes/settings.js";
import { type Finding, ok, remove } from "./finding.js";

/** How long Editors have to connect, or to get a diagnosis, ms. */
const CONNECT_MS = 8_000;
const LOOK_MS = 200;

/** The endpoint files of Editors that run here, and the warnings about others. */
export async function checkEndpointFiles(
  { editorsFolder, named }: Settings,
  self: string,
): Promise<{ findings: Finding[]; ids: string[] }> {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const isNamed = (host: string) => named.some((one) => "host" in one && one.host === host);
  const folder = createEndpointFolder({ folder: editorsFolder, log, isNamed });
  const living = await folder.read();
  const refused = folder.refused();
  const ids = living.map(({ editorId }) => editorId);
  const names = await readdir(editorsFolder).catch(() => [] as string[]);
  const findings = refused.map((file): Finding => {
    const { message, next } = diagnoseFile({ ...file, fix: undefined });
    return { check: "endpoint file", state: "problem", says: message, next, fix: file.fix };
  });
  for (const name of names.filter((name) => name.endsWith(".json"))) {
    const file = join(editorsFolder, name);
    if (refused.some(({ path }) => path === file)) continue;
    const says = staleness(await readFile(file, "utf8").catch(() => ""), ids);
    if (says)
      findings.push({
        check: "endpoint file",
        state: "warning",
        says: `${file} ${says}`,
        fix: remove(file),
      });
  }
  if (ids.length > 0) return { findings, ids };
  findings.push({
    check: "Editor",
    state: "problem",
    says: `no Unity Editor with the bridge runs here: ${editorsFolder} has no endpoint file of a living one`,
    next: "Open the project in Unity with the bridge installed. To try the broker without Unity:",
    fix: `${self} simulate`,
  });
  return { findings, ids };
}

function staleness(text: string, living: readonly string[]): string | undefined {
  try {
    const { editorId } = JSON.parse(text) as { editorId?: unknown };
    if (typeof editorId !== "string") return "names no Editor";
    return living.includes(editorId) ? undefined : `is of an Editor that ended (${editorId})`;
  } catch {
    return "is not an endpoint file";
  }
}

const Diagnosis = z.looseObject({ message: z.string(), next: z.string() });
const Listed = z.looseObject({
  id: z.string(),
  connected: z.boolean().optional(),
  phase: z.string().optional(),
  unity_version: z.string().optional(),
  diagnosis: Diagnosis.optional(),
});
type Listed = z.infer<typeof Listed>;

/** `expected`: the Editors that run here, each of which must connect; if empty: at least one Editor of a gateway. */
export async function checkEditors(client: BrokerClient, expected: readonly string[]): Promise<Finding[]> {
  const editors = await untilSettled(client, expected);
  const reached = editors.filter(({ connected }) => connected);
  const findings = editors
    .filter(({ id, connected }) => connected || expected.includes(id))
    .map((editor) => connectionOf(editor));
  if (reached.length === 0) return expected.length > 0 ? findings : noneOf(editors);
  return [
    ...findings,
    await checkTools(client),
    ...(await Promise.all(reached.map(({ id }) => checkCall(client, id)))),
  ];
}

/** What a gateway knows of its Editors if none is connected. */
function noneOf(editors: readonly Listed[]): Finding[] {
  const diagnosed = editors.filter(({ diagnosis }) => diagnosis).map((editor) => connectionOf(editor));
  if (diagnosed.length > 0) return diagnosed;
  return [
    {
      check: "Editor",
      state: "problem",
      says: "the gateway knows no Editor that is connected",
      next: "Open the project in Unity where its worker runs (`unity-broker up`, or `worker`).",
    },
  ];
}

/** Waits until every expected Editor is connected or has a diagnosis, or the time is over. */
async function untilSettled(client: BrokerClient, expected: readonly string[]): Promise<Listed[]> {
  const deadline = performance.now() + CONNECT_MS;
  for (;;) {
    const answer = await client.call("list_editors");
    const listed = z.array(Listed).parse(editorsIn(answer));
    const missing = expected.filter(
      (id) => !listed.some((one) => one.id === id && (one.connected || one.diagnosis)),
    );
    if (missing.length === 0 || performance.now() > deadline) {
      const unseen = missing.filter((id) => !listed.some((one) => one.id === id));
      return [...listed, ...unseen.map((id) => ({ id }))];
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function connectionOf({ id, connected, phase, unity_version, diagnosis }: Listed): Finding {
  if (diagnosis) {
    const state = connected ? "warning" : "problem";
    return { check: "Editor", state, says: `${id}: ${diagnosis.message}`, next: diagnosis.next };
  }
  if (connected) return ok("Editor", `${id}, Unity ${unity_version}, ${phase}`);
  return {
    check: "Editor",
    state: "problem",
    says: `${id} runs, but does not answer`,
    next: "Look at its window: it may be loading, or its scripts may not compile. MCP_DEBUG=1 logs every attempt.",
  };
}

async function checkTools(client: BrokerClient): Promise<Finding> {
  const tools = await client.tools();
  const unity = tools.filter(({ name }) => !BROKER_TOOLS.has(name));
  return unity.length > 0
    ? ok("tools", `${unity.length} of the Editors`)
    : {
        check: "tools",
        state: "problem",
        says: "no Editor has published its tools",
        next: "Look at the bridge's window: its tools may be switched off.",
      };
}

/** A read-only call along the whole way: gateway, queue, worker, Editor and back. */
async function checkCall(client: BrokerClient, editor: string): Promise<Finding> {
  const startedAt = performance.now();
  const answer = await client.call("ping", { Message: "doctor", editor, timeout: 10 });
  const ms = Math.round(performance.now() - startedAt);
  if (answer.status === "completed") return ok("test call", `${editor} answered ping in ${ms} ms`);
  return {
    check: "test call",
    state: "problem",
    says: `ping on ${editor}: ${answer.message}`,
    ...(answer.log_id === undefined
      ? {}
      : { next: `The whole story: unity-broker explain ${answer.log_id}` }),
  };
}
