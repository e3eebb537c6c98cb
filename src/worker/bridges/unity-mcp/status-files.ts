/**
 * Editors with MCP for Unity, found by the status files that its bridge writes (docs/reference/bridges.md). They hold no
 * process id: an Editor that crashed leaves its file behind.
 */
import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { z } from "zod";
import { editorIdOf } from "../../../shared/editors/editor-id.js";
import type { Log } from "../../../shared/log.js";
import { thisMachine } from "../../../shared/machine/this-machine.js";
import type { PlainEndpoint, PlainEndpoints } from "../../discovery/discovery.js";
import { createTrustedFolder, type TrustedFile } from "../../discovery/trusted-folder.js";

const Status = z.looseObject({
  unity_port: z.int().min(1).max(65_535),
  reloading: z.boolean().default(false),
  /** The project's Assets folder. */
  project_path: z
    .string()
    .max(32_767)
    .regex(/^([a-zA-Z]:)?[\\/].*[\\/]Assets[\\/]?$/),
});
type Status = z.infer<typeof Status>;

const NAME = /^unity-mcp-status-\w{1,64}\.json$/;

/** The bridge writes its file twice a second while Unity's main thread runs: this is left over from a crash. */
const STALE_MS = 24 * 3_600_000;

export function createStatusFiles(deps: { folder: string; log: Log; now?: () => number }): PlainEndpoints {
  const { folder, log, now = Date.now } = deps;
  const files = createTrustedFolder({ folder, log, isFile: (name) => NAME.test(name), schema: Status });

  return {
    async read() {
      const found = await files.read();
      return Promise.all(
        newestOfPorts(found.filter((file) => now() - file.modifiedAt < STALE_MS)).map(endpointOf),
      );
    },
    refused: files.refused,
  };
}

/**
 * Of several files that name a port only the newest counts: the bridge closes its older connection when another one comes, so
 * two links to one Editor would end each other's calls.
 */
function newestOfPorts(found: TrustedFile<Status>[]): Status[] {
  const byPort = new Map<number, Status>();
  for (const { content } of found.sort((a, b) => a.modifiedAt - b.modifiedAt)) {
    byPort.set(content.unity_port, content);
  }
  return [...byPort.values()];
}

async function endpointOf({ unity_port: port, reloading, project_path }: Status): Promise<PlainEndpoint> {
  const said = project_path.replace(/[\\/]Assets[\\/]?$/, "");
  // As our own bridge of this project would be named.
  const projectPath = await realpath(said).catch(() => said);
  const projectName = basename(projectPath.replaceAll("\\", "/"));
  const editorId = editorIdOf(projectName, thisMachine(), projectPath);
  return {
    host: "127.0.0.1",
    port,
    phase: reloading ? "reloading" : "ready",
    plain: { bridge: "unity-mcp", editorId, projectName, projectPath: said },
  };
}
