/** This Editor's id: `<project-slug>@<short hash of machine and real project path>`. */
import { existsSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { editorIdOf } from "../shared/editors/target.js";
import { thisMachine } from "../shared/machine/this-machine.js";

export interface Identity {
  editorId: string;
  projectName: string;
  projectPath: string;
  unityVersion: string;
}

export function identify(projectPath: string, unityVersion: string, editorId?: string): Identity {
  const realPath = existsSync(projectPath) ? realpathSync(projectPath) : projectPath;
  const projectName = basename(realPath);
  const known = editorId ?? editorIdOf(projectName, thisMachine(), realPath);
  return { editorId: known, projectName, projectPath: realPath, unityVersion };
}
