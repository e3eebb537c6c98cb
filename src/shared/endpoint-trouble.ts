/** Endpoint files that are not believed: their writer says where calls are sent, and what answers them. */
import type { Trouble } from "./trouble.js";

export interface RefusedFile {
  path: string;
  /** By the file's name: what is in it is not believed. */
  editorId: string;
  why: "another_owner" | "writable" | "another_host";
  /** With `another_host`: `host:port`. */
  address?: string | undefined;
  /** A command that mends it, where there is one. */
  mend?: string | undefined;
}

/** Who may have written an endpoint file; users by their number, modes as chmod(2) has them. */
export interface FileRights {
  uid: number;
  mode: number;
  /** Of the folder. */
  folderUid: number;
}

/**
 * Why a file may be somebody else's work; undefined: only this user can have written it. Root also believes the owner of
 * the folder, whose Editors it then serves. `uid` undefined: the system knows no such users (Windows).
 */
export function problemOfRights(rights: FileRights, uid: number | undefined): RefusedFile["why"] | undefined {
  if (uid === undefined) return undefined;
  const isOwn = rights.uid === uid || (uid === 0 && rights.uid === rights.folderUid);
  if (!isOwn) return "another_owner";
  return (rights.mode & 0o022) === 0 ? undefined : "writable";
}

export function troubleOfFile({ path, editorId, why, address, mend }: RefusedFile): Trouble {
  const code = "ENDPOINT_REFUSED";
  const ignored = "It is ignored, and nothing was sent there.";
  const run = mend === undefined ? "" : `: ${mend}`;
  switch (why) {
    case "another_owner":
      return {
        code,
        message: `The endpoint file of ${editorId} (${path}) belongs to another user of this machine, who would get its calls. ${ignored}`,
        next: `Run worker and Editor as the same user. If you did not expect the file, remove it${run}`,
      };
    case "writable":
      return {
        code,
        message: `Other users of this machine may write the endpoint file of ${editorId} (${path}), and so say who gets its calls. ${ignored}`,
        next: `Look at it, take their rights away${run}, then restart the Editor: its token may be known.`,
      };
    case "another_host":
      return {
        code,
        message: `The endpoint file of ${editorId} (${path}) names ${address ?? "another host"}, which is not this machine. ${ignored}`,
        next: `If that is meant, name that address in UNITY_BROKER_EDITORS; otherwise remove the file${run}`,
      };
  }
}
