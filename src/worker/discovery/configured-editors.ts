/** Editors with a uLoop bridge cannot be discovered; the configuration names an address, or a project folder that records its port. */
import { readFile, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { editorIdOf } from "../../shared/editors/target.js";
import { thisMachine } from "../../shared/machine/this-machine.js";
import type { NamedEditor } from "../../shared/setting-values.js";
import type { Log } from "../../shared/telemetry.js";
import type { ExplicitEndpoint } from "./discovery.js";

/** uLoopMCP's settings in the project; the port may change with every start of its server. */
const UloopSettings = z.looseObject({
  customPort: z.int().min(1).max(65535),
  /** Since 2.0; empty while the server does not run. */
  projectRootPath: z.string().optional(),
  serverSessionId: z.string().optional(),
});
const SETTINGS = join("UserSettings", "UnityMcpSettings.json");

/** Rejects where the project has none that can be read. */
export async function uloopSettings(projectPath: string): Promise<z.infer<typeof UloopSettings>> {
  const text = await readFile(join(projectPath, SETTINGS), "utf8");
  return UloopSettings.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
}

/** Reads the present addresses of the named Editors; leaves out those whose settings cannot be read. Never rejects. */
export function createConfiguredEditors(
  editors: readonly NamedEditor[],
  log: Log,
): () => Promise<ExplicitEndpoint[]> {
  const complained = new Set<string>();

  const ofProject = async (folder: string): Promise<ExplicitEndpoint | undefined> => {
    try {
      const projectPath = await realpath(folder);
      const { customPort } = await uloopSettings(projectPath);
      const projectName = basename(projectPath);
      const editorId = editorIdOf(projectName, thisMachine(), projectPath);
      complained.delete(folder);
      return {
        host: "127.0.0.1",
        port: customPort,
        plain: { bridge: "uloop", editorId, projectName, projectPath },
      };
    } catch (error) {
      if (!complained.has(folder)) {
        log.warn(
          { folder, error: (error as Error).message },
          `named as an Editor, but ${SETTINGS} cannot be read`,
        );
      }
      complained.add(folder);
      return undefined;
    }
  };

  const ofAddress = ({ name, host, port }: Extract<NamedEditor, { port: number }>): ExplicitEndpoint => {
    const projectName = name ?? `uloop-${port}`;
    const editorId = editorIdOf(projectName, thisMachine(), `${host}:${port}`);
    return { host, port, plain: { bridge: "uloop", editorId, projectName, projectPath: undefined } };
  };

  return async () => {
    const found = await Promise.all(
      editors.map((editor) => ("project" in editor ? ofProject(editor.project) : ofAddress(editor))),
    );
    return found.filter((endpoint) => endpoint !== undefined);
  };
}
