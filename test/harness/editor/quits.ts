import { eventually, type System } from "../system/system.js";

/** An Editor is closed as a user closes it; resolves when its worker has left it as well. */
export async function quits(
  { away, hand, editor: first }: Pick<System, "away" | "hand" | "editor">,
  editor: System["editor"] = first,
): Promise<void> {
  await editor.close();
  await away(editor);
  const isOwned = () => hand.exists(`{ujb}:lease:${editor.editorId}`);
  await eventually(async () => (await isOwned()) === 0, "its worker has left it");
}
