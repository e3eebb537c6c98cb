/** What a bad disk leads to: for each place that is written, how it ends and what is said. The tests of this folder ask this table. */

/** In words, and what to do; `<folder>` stands for the folder concerned. */
const SAID = {
  EIO: "the disk reports an error (EIO). Check the disk of <folder>",
  ENOSPC: "the disk is full (ENOSPC). Free space on the disk of <folder>",
  EROFS: "the file system is read-only (EROFS). Make it writable: <folder>",
  ENOTDIR:
    "a file is in the way of a folder (ENOTDIR). Remove that file, or choose another place than <folder>",
  EACCES: "this user may not write there (EACCES). Give this user the right to write in <folder>",
} as const;

export type DiskError = keyof typeof SAID;
const DISK_ERRORS = Object.keys(SAID) as DiskError[];

interface Expected {
  /** What the caller gets: an error code of the Editor's wire, an end's type, an error's code, or an exit code. */
  end: string | number;
  says: string;
}

export const EXPECTED = {
  "ledger: hello": { end: -32014, says: "The ledger cannot be written: <why>; nothing has to be restarted." },
  "ledger: submit": {
    end: -32014,
    says: "The ledger cannot be written: <why>; nothing has to be restarted.",
  },
  "ledger: revoke": {
    end: -32014,
    says: "The ledger cannot be written: <why>; nothing has to be restarted.",
  },
  "ledger: begin": {
    end: "ledger_unavailable",
    says: "Not invoked. The ledger cannot be written: <why>; nothing has to be restarted.",
  },
  "private Redis": {
    end: "REDIS_START_FAILED",
    says: "The embedded Redis cannot be started: <why>, and type the same again.",
  },
  "command line: folder": { end: 1, says: "unity-broker: <folder> cannot be used: <why>.\n" },
  /** Node's words for the error are in the middle. */
  "command line: stdout": { end: 74, says: "unity-broker: the output could not be written: " },
  "command line: stderr": { end: 0, says: "" },
  /** The system opens /dev/null in its place. */
  "command line: closed": { end: 0, says: "" },
  "sent.log: submit": {
    end: "ledger_unavailable",
    says: "sent.log cannot be used: <why>; nothing has to be restarted.",
  },
  "sent.log: send": {
    end: "ledger_unavailable",
    says: "Not sent. sent.log cannot be written: <why>; nothing has to be restarted.",
  },
} as const satisfies Record<string, Expected>;

/** The sentences that may be said of this place, one for each error. */
export function saidOf(
  place: keyof typeof EXPECTED,
  folder: string,
  errors: readonly DiskError[] = DISK_ERRORS,
): string[] {
  return errors.map((code) =>
    EXPECTED[place].says.replace("<why>", SAID[code]).replaceAll("<folder>", folder),
  );
}
