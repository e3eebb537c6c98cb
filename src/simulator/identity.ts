/** Who this Editor is: `<project-slug>@<short hash of machine and real project path>`. */
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { basename } from "node:path";

export interface Identity {
  editorId: string;
  projectName: string;
  projectPath: string;
  unityVersion: string;
}

export function identify(projectPath: string, unityVersion: string, editorId?: string): Identity {
  const realPath = existsSync(projectPath) ? realpathSync(projectPath) : projectPath;
  const projectName = basename(realPath);
  const slug =
    projectName
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "project";
  const hash = createHash("sha256").update(`${hostname()}\n${realPath}`).digest("hex").slice(0, 8);
  return { editorId: editorId ?? `${slug}@${hash}`, projectName, projectPath: realPath, unityVersion };
}
