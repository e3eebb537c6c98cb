/** `unity-broker editors claim <editor>`: a person hands over an Editor of this machine to this broker's store. */

import { diagnoseFile, type RefusedFile } from "../../../shared/editors/refused-endpoint.js";
import { resolveTarget } from "../../../shared/editors/target.js";
import { printable, printableJson } from "../../../shared/printable.js";
import { RpcFailure } from "../../../shared/wire/rpc.js";
import { EDITOR_CODES, type EndpointFile, HandOverAnswer } from "../../../shared/wire/wire.js";
import { createEndpointFolder } from "../../../worker/discovery/endpoint-folder.js";
import { askProven } from "../../../worker/editor/proving.js";
import { createConnection } from "../../../worker/transport/connection.js";
import { UsageError } from "../../command.js";
import { startRuntime } from "../../processes/runtime.js";
import { selfCommand } from "../../self.js";

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Rejects with what a person can do about it. Does not affect the Editor's own work. */
export async function claimEditor(args: {
  editor?: string | undefined;
  force: boolean;
  json: boolean;
}): Promise<void> {
  if (args.editor === undefined) throw new UsageError("editors claim: name the Editor");
  const runtime = await startRuntime();
  try {
    const { editorsFolder: folder, named } = runtime;
    const isNamed = (host: string) => named.some((one) => "host" in one && one.host === host);
    const files = createEndpointFolder({ folder, log: SILENT, isNamed });
    const living = await files.read();
    const endpoint = chosen(args.editor, living, files.refused());
    const taken = await handOver(endpoint, runtime.store.storeId(), args.force);
    console.log(args.json ? printableJson(taken) : printable(sentences(endpoint.editorId, taken)));
  } finally {
    await runtime.close();
  }
}

function chosen(
  name: string,
  living: readonly EndpointFile[],
  refused: readonly RefusedFile[],
): EndpointFile {
  const candidates = living.map(({ editorId, projectName, projectPath }) => ({
    id: editorId,
    projectName,
    projectPath,
    connected: false,
    labels: [],
  }));
  const target = resolveTarget(name, candidates);
  const editor = "kind" in target && target.kind === "named" ? target.editor : undefined;
  const found = living.find(({ editorId }) => editorId === editor);
  if (found) return found;
  const file = refused.find(({ editorId }) => editorId === name);
  if (file) throw new Error(`${diagnoseFile(file).message} ${diagnoseFile(file).next}`);
  const ids = living.map(({ editorId }) => editorId).join(", ") || "none";
  throw new Error(`No one Editor that runs on this machine is called ${name}. Running here: ${ids}.`);
}

async function handOver(endpoint: EndpointFile, storeId: string, force: boolean): Promise<HandOverAnswer> {
  const { host, port, editorId } = endpoint;
  const line = createConnection(
    { host, port, log: SILENT, onNotification: () => undefined },
    { isStranger: true },
  );
  try {
    await line.opened;
    return await askProven(line, endpoint, HandOverAnswer, "bridge/hand_over", { storeId, force });
  } catch (error) {
    if (error instanceof RpcFailure && error.code === EDITOR_CODES.FOREIGN_BROKER) {
      throw new Error(
        `${editorId} was not taken over. ${error.message} Wait for them, or run \`${selfCommand()} editors claim ${editorId} --force\`: they go on in the Editor, and the other broker calls them unknown.`,
      );
    }
    throw new Error(`${editorId} was not taken over: ${(error as Error).message}`);
  } finally {
    await line.close();
  }
}

function sentences(editorId: string, { boundTo, before, open }: HandOverAnswer): string {
  if (before === boundTo) return `${editorId} belongs to this broker already (store ${boundTo}).`;
  const from = before === null ? "it belonged to none" : `it belonged to store ${before}`;
  const left = open.length > 0 ? ` ${open.length} operation(s) of that store go on there without it.` : "";
  return `${editorId} belongs to this broker now (store ${boundTo}); ${from}.${left}`;
}
