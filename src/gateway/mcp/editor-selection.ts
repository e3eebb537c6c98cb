/** The Editor that one MCP session selected for the calls that name none. */

export interface EditorSelection {
  /** Reads the store, because several gateways may serve the session. */
  editor(): Promise<string | undefined>;
  /** Undefined clears the choice. Rejects, without a change, if it cannot be stored. */
  select(editor: string | undefined): Promise<void>;
}

/** The selection of a session that outlives its process. */
export interface StoredEditorSelection {
  /** Undefined if the store does not know the session. */
  read(): Promise<{ selected?: string | undefined } | undefined>;
  write(editor: string | undefined): Promise<void>;
}

/**
 * `before`: the selection from an earlier gateway. If the store has forgotten the session, the selection made in this
 * process applies, in this process only.
 */
export function createEditorSelection(store?: StoredEditorSelection, before?: string): EditorSelection {
  let selected = before;
  return {
    async editor() {
      const stored = await store?.read();
      if (stored) selected = stored.selected;
      return selected;
    },
    async select(editor) {
      await store?.write(editor);
      selected = editor;
    },
  };
}
