/** A Unity project on this machine, as its files describe it. */
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { editorIdOf } from "../../shared/editors/target.js";
import { thisMachine } from "../../shared/machine/this-machine.js";
import { UsageError } from "../command.js";

export interface UnityProject {
  /** Its real path. */
  path: string;
  /** What its Editor on this machine will be called. */
  editorId: string;
  version: string;
  /** The commit of Unity that the Hub installs this version by; not in old projects. */
  changeset: string | undefined;
  /** Its packages name the bridge, or it is among its files. */
  hasBridge: boolean;
}

const PACKAGE = "org.jobbroker.unity-bridge";

/** Throws a UsageError where there is no Unity project. */
export function readProject(given: string): UnityProject {
  const versionFile = join(given, "ProjectSettings", "ProjectVersion.txt");
  if (!existsSync(versionFile))
    throw new UsageError(`${given} is not the folder of a Unity project: it has no ${versionFile}`);
  // Some tools write a byte order mark.
  const text = readFileSync(versionFile, "utf8").replace(/^\uFEFF/, "");
  const version = /^m_EditorVersion:\s*(\S+)/m.exec(text)?.[1];
  if (version === undefined) throw new UsageError(`${versionFile} names no m_EditorVersion`);
  const path = realpathSync(given);
  return {
    path,
    editorId: editorIdOf(basename(path), thisMachine(), path),
    version,
    changeset: /^m_EditorVersionWithRevision:\s*\S+\s+\(([0-9a-f]+)\)/m.exec(text)?.[1],
    hasBridge: hasBridge(join(path, "Packages")),
  };
}

function hasBridge(packages: string): boolean {
  try {
    if (readFileSync(join(packages, "manifest.json"), "utf8").includes(`"${PACKAGE}"`)) return true;
    return readdirSync(packages).some((name) =>
      existsSync(join(packages, name, "Core", "JobBroker.Bridge.Core.asmdef")),
    );
  } catch {
    return false;
  }
}
