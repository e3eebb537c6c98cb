/** Several gateways, workers and Editors, each a process, on one private Redis, with the test in every cable. */
import { join } from "node:path";
import { hashesOf } from "../../../src/shared/operation/decide.js";
import type { Engine } from "../../harness/editor/editor-control.js";
import {
  type GatewayMember,
  type Installation,
  openInstallation,
} from "../../harness/processes/installation.js";
import type { StdioClient } from "../../harness/processes/process-clients.js";
import { until } from "../../harness/processes/processes.js";
import { type Cable, layCable } from "../../harness/system/cable.js";
import { createAccount } from "../engine/intents.js";
import { type ChaosEditor, startChaosEditor } from "./editor.js";
import { createEndpointMirror, type EndpointMirror } from "./faults/endpoint-mirror.js";
import { createStoreCopies, type StoreCopies } from "./faults/store-copies.js";
import type { ChaosAccount, ChaosIntent } from "./intent.js";
import { createEvents, type Events } from "./judge/events.js";
import { createWitness, type Witness } from "./judge/witness.js";
import { type ChaosMember, layMember } from "./member.js";

export interface ChaosWorld extends Pick<Installation, "processes" | "redis" | "hand" | "close"> {
  readonly copies: StoreCopies;
  readonly editors: readonly ChaosEditor[];
  readonly gateways: readonly (ChaosMember & GatewayMember)[];
  /** Of each gateway: what callers reach it through that have no connection of their own to it. */
  readonly proxies: readonly Cable[];
  readonly workers: readonly ChaosMember[];
  readonly events: Events;
  readonly witness: Witness;
  /** What callers want, and every answer. */
  readonly account: ChaosAccount;
  /** Living stdio processes, each with a worker in it. */
  readonly stdio: Set<StdioClient>;
  newStdio(): Promise<StdioClient>;
}

export interface ChaosWorldOptions {
  /** Of the Editors with a ledger; the plain one is always simulated. */
  engine: Engine;
  gateways: number;
  workers: number;
  editors: number;
}

/**
 * A dozen processes on two cores: a shorter lease would be lost by waiting for a core.
 * The replay window is longer than a run: that a call may be a new intent after the replay window is another test's matter. One principal
 * calls for all, so its caps are out of the way.
 */
const PATIENT = {
  UNITY_BROKER_LEASE_MS: "2000",
  UNITY_BROKER_JOB_LOCK_MS: "2500",
  UNITY_BROKER_REPLAY_MINUTES: "600",
  // Callers leave their sessions behind without a word.
  UNITY_BROKER_SESSION_IDLE_MINUTES: String(5 / 60),
  UNITY_BROKER_MAX_RUNNING: "500",
  UNITY_BROKER_MAX_QUEUED: "5000",
  UNITY_BROKER_LOG_LEVEL: "info",
};

/** Without what the broker itself takes. */
function fingerprintOfCall(tool: string, args: Record<string, unknown>): string {
  const { timeout: _timeout, editor: _editor, force_new: _force, ...own } = args;
  return hashesOf({ principal: "", tool, arguments: own }).fingerprint;
}

const START_LIMIT_MS = 60_000;

export async function startChaosWorld(options: ChaosWorldOptions): Promise<ChaosWorld> {
  const installation = await openInstallation({ env: PATIENT, isSupervised: true });
  const { processes, redis, hand, folder, env } = installation;
  const witness = createWitness();
  const stdio = new Set<StdioClient>();
  const editors: ChaosEditor[] = [];
  const proxies: Cable[] = [];
  const endpoints = join(folder, "endpoints");
  let mirror: EndpointMirror | undefined;

  const close = async (): Promise<string[]> => {
    mirror?.close();
    try {
      return await installation.close();
    } finally {
      for (const laid of [...editors, ...proxies]) await laid.close();
    }
  };
  /** Stdio processes share one way to the Editors. */
  const stdioWorker = options.workers;
  const ways = options.workers + 1;
  const wayOf = (worker: number): NodeJS.ProcessEnv => ({
    UNITY_BROKER_EDITORS_DIR: mirror?.folderOf(worker),
    UNITY_BROKER_EDITORS: editors
      .filter(({ plain }) => plain)
      .map(({ name, cables }) => `${name}=127.0.0.1:${cables[0]?.port}`)
      .join(","),
  });

  try {
    for (let number = 0; number <= options.editors; number += 1) {
      const plain = number === options.editors;
      editors.push(
        await startChaosEditor(processes, witness, {
          ...{ name: `E${number + 1}`, engine: plain ? "typescript" : options.engine, plain },
          ...{ folder, env: { ...env, UNITY_BROKER_EDITORS_DIR: endpoints }, cables: plain ? 1 : ways },
        }),
      );
    }
    mirror = createEndpointMirror(
      endpoints,
      folder,
      ways,
      (editorId, worker) => editors.find(({ id }) => id === editorId)?.cables[worker]?.port,
    );
    const workers: ChaosMember[] = [];
    for (let number = 0; number < options.workers; number += 1)
      workers.push(
        await layMember(folder, `w${number + 1}`, number === 0, (name, own) =>
          installation.worker(name, { ...own, ...wayOf(number) }),
        ),
      );
    const gateways: (ChaosMember & GatewayMember)[] = [];
    for (let number = 0; number < options.gateways; number += 1)
      gateways.push(await layMember(folder, `g${number + 1}`, number === 0, installation.gateway));
    for (const member of [...workers, ...gateways]) await member.start();
    for (const { url } of gateways)
      proxies.push(await layCable(() => ({ host: "127.0.0.1", port: Number(new URL(url()).port) })));

    const known = await until(
      "every Editor is known",
      async () => {
        const ids = await hand.zrange("{ujb}:editors", 0, "-1");
        return ids.length === editors.length && ids;
      },
      START_LIMIT_MS,
    );
    const plainId = known.find((id) => editors.every((editor) => editor.id !== id));
    return {
      ...{ processes, redis, hand, witness, stdio, workers, gateways, proxies, close },
      events: createEvents(),
      account: createAccount<ChaosIntent>(fingerprintOfCall),
      copies: createStoreCopies(redis, hand),
      // Nobody but the workers gives a plain Editor its name.
      editors: editors.map((editor) =>
        editor.plain ? Object.defineProperty(editor, "id", { value: plainId ?? editor.id }) : editor,
      ),
      async newStdio() {
        const client = await installation.stdio(wayOf(stdioWorker));
        stdio.add(client);
        void client.process.ended.then(() => stdio.delete(client));
        return client;
      },
    };
  } catch (error) {
    console.error(processes.logs());
    await close().catch(() => undefined);
    throw error;
  }
}
