/** The Editor that one MCP session selected for the calls that name none. */

export interface Selection {
  editor(): string | undefined;
  /** Undefined takes the choice back. Rejects, and changes nothing, where it cannot be stored. */
  select(editor: string | undefined): Promise<void>;
}

/** `store`: for a session that outlives its process. `before`: what it selected in an earlier life. */
export function createSelection(
  store: (editor: string | undefined) => Promise<void> = async () => undefined,
  before?: string,
): Selection {
  let selected = before;
  return {
    editor: () => selected,
    async select(editor) {
      await store(editor);
      selected = editor;
    },
  };
}
