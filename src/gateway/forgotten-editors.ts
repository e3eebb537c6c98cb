/** Removes what Editors that nobody knows any more left in the store. Part of a round of the sweeper. */
import type { Log } from "../shared/log.js";
import type { Store } from "../shared/redis/store.js";

export async function removeForgotten({ store, log }: { store: Store; log: Log }): Promise<void> {
  for (const editor of await store.forgotten.ids()) {
    if (!(await store.forgotten.remove(editor))) continue;
    await store.queues.release(editor);
    log.info({ editor }, "removed what a forgotten Editor had left");
  }
  await store.forgotten.dropTroubles();
}
