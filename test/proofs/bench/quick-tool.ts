/** What the Editor's process and those who call its tool agree on. */
export const QUICK_TOOL = "bench-note";

export interface EditorSettings {
  /** Ledger and counter file. */
  folder: string;
  editorsFolder: string;
}
