/** Endpoint files that are not trusted: their writer decides where calls are sent, and what answers them. */
import type { Diagnosis } from "./diagnosis.js";

export interface RefusedFile {
  path: string;
  /** From the file's name: its content is not trusted. */
  editorId: string;
  why: "another_owner" | "writable" | "another_host";
  /** With `another_host`: `host:port`. */
  address?: string | undefined;
  /** A command that fixes it, if there is one. */
  fix?: string | undefined;
}

/** Who can write an endpoint file: numeric users, modes as in chmod(2). */
export interface FileRights {
  uid: number;
  mode: number;
  /** Of the folder. */
  folderUid: number;
}

/**
 * Why another user may have written a file; undefined if only this user can have. Root also trusts the owner of the
 * folder, whose Editors it then serves. `uid` undefined: the system has no such users (Windows).
 */
export function problemOfRights(rights: FileRights, uid: number | undefined): RefusedFile["why"] | undefined {
  if (uid === undefined) return undefined;
  const isOwn = rights.uid === uid || (uid === 0 && rights.uid === rights.folderUid);
  if (!isOwn) return "another_owner";
  return (rights.mode & 0o022) === 0 ? undefined : "writable";
}

export function diagnoseFile({ path, editorId, why, address, fix }: RefusedFile): Diagnosis {
  const code = "ENDPOINT_REFUSED";
  const ignored = "It is ignored, and nothing was sent there.";
  const run = fix === undefined ? "" : `: ${fix}`;
  switch (why) {
    case "another_owner":
      return {
        code,
        message: `The endpoint file of ${editorId} (${path}) belongs to another user of this machine, who would receive its calls. ${ignored}`,
        next: `Run worker and Editor as the same user. If you did not expect the file, remove it${run}`,
      };
    case "writable":
      return {
        code,
        message: `Other users of this machine can write the endpoint file of ${editorId} (${path}), and so redirect its calls. ${ignored}`,
        next: `Check the file, remove their write access${run}, then restart the Editor: its token may be known.`,
      };
    case "another_host":
      return {
        code,
        message: `The endpoint file of ${editorId} (${path}) names ${address ?? "another host"}, which is not this machine. ${ignored}`,
        next: `If that is intended, name that address in UNITY_BROKER_EDITORS; otherwise remove the file${run}`,
      };
  }
}
