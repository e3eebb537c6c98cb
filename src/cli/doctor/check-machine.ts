/** Checks this machine and this user: Node, configuration, folders, tokens. */
import { access, constants, mkdir, stat } from "node:fs/promises";
import { readLocalToken } from "../../gateway/auth/local-token.js";
import { createTokens } from "../../gateway/auth/tokens.js";
import { shellQuoted } from "../../shared/machine/private-folder.js";
import { SETTING_NAMES } from "../../shared/setting-names.js";
import { problemLine, WrongConfiguration } from "../configuration/problems.js";
import { readSettings, type Settings } from "../processes/settings.js";
import { VERSION } from "../version.js";
import { type Finding, ok, remove, unset } from "./finding.js";

const LEAST_NODE = [20, 19];

export function checkVersions(node = process.versions.node): Finding {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = LEAST_NODE;
  const says = `unity-job-broker ${VERSION} on Node ${node}`;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok("versions", says);
  return {
    check: "versions",
    state: "problem",
    says: `${says}, which is too old`,
    next: `Install Node ${leastMajor}.${leastMinor} or newer from https://nodejs.org.`,
  };
}

/** The configuration, or the problem with each variable or key. */
export function checkConfiguration(): { settings: Settings } | { findings: Finding[] } {
  try {
    return { settings: readSettings() };
  } catch (error) {
    if (!(error instanceof WrongConfiguration)) throw error;
    return {
      findings: error.problems.map((problem) => ({
        check: "configuration",
        state: "problem",
        says: problemLine(problem),
        ...(SETTING_NAMES.some((name) => name === problem.key)
          ? { fix: unset(problem.key ?? "") }
          : { next: "Change it there." }),
      })),
    };
  }
}

export async function checkFolder({ dataDir, config }: Settings): Promise<Finding> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK);
    return ok("data", dataDir);
  } catch (error) {
    const isOther = (error as NodeJS.ErrnoException).code === "EEXIST";
    return {
      check: "data",
      state: "problem",
      says: `${dataDir} cannot be used: ${isOther ? "it is not a folder" : (error as Error).message}`,
      ...(isOther
        ? { fix: remove(dataDir) }
        : config.UNITY_BROKER_DATA_DIR !== undefined
          ? { fix: unset("UNITY_BROKER_DATA_DIR") }
          : { next: "Make it a folder that you may write to, or set UNITY_BROKER_DATA_DIR to one." }),
    };
  }
}

export async function checkTokens({ tokensFile, localTokenFile }: Settings): Promise<Finding> {
  let file = tokensFile;
  try {
    const entries = await createTokens(file).list();
    file = localTokenFile;
    // Checked before it is read, because reading removes others' access: they may have read it.
    const open = await openToOthers(localTokenFile, tokensFile);
    if (open !== undefined) {
      return {
        check: "tokens",
        state: "problem",
        says: `${open} can be read by other users of this machine`,
        fix: `chmod 600 ${shellQuoted(open)}`,
      };
    }
    await readLocalToken(file);
    return ok(
      "tokens",
      entries.length === 0 ? "this user's own" : `this user's own, and ${entries.length} made`,
    );
  } catch (error) {
    return { check: "tokens", state: "problem", says: (error as Error).message, fix: remove(file) };
  }
}

/** The first of these files that others may access; on Windows the folder's permissions decide. */
async function openToOthers(...files: string[]): Promise<string | undefined> {
  if (process.platform === "win32") return undefined;
  for (const file of files) {
    const found = await stat(file).catch(() => undefined);
    if (found && (found.mode & 0o077) !== 0) return file;
  }
  return undefined;
}
