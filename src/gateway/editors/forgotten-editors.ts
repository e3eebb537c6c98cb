/** Removes what forgotten Editors left in the store; part of a janitor round. */
import type { Log } from "../../shared/log.js";
import type { Store } from "../../shared/store/store.js";

export async function removeForgotten({ store, log }: { store: Store; log: Log }): Promise<void> {
  for (const editor of await store.forgotten.ids()) {
    if (!(await store.forgotten.remove(editor))) continue;
    await store.queues.release(editor);
    log.info({ editor }, "removed the rest of a forgotten Editor");
  }
  await store.forgotten.dropDiagnoses();
}
