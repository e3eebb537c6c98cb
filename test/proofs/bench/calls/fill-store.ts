/** Fills a store with ended operations, by what the broker itself writes them with. */
import { createHash, randomUUID } from "node:crypto";
import type { Store } from "../../../../src/shared/store/store.js";
import { operation } from "../../../unit/shared/record.js";
import type { Home } from "../clients/home.js";
import { QUICK_TOOL } from "../quick-tool.js";
import { encodeResult, openStore } from "../shipped.js";

/** How many are written at a time: below the principal's limit on waiting operations. */
const AT_A_TIME = 32;

/** As if this user had called the home's first Editor so often. No broker may run there: it would send them. */
export async function fillStore(home: Home, count: number): Promise<void> {
  // A busy machine answers late.
  const options = { retentionMs: 24 * 3_600_000, commandTimeoutMs: 60_000 };
  const store = await openStore(await home.redis(), options);
  try {
    let begun = 0;
    const writeOneByOne = async (): Promise<void> => {
      while (begun < count) {
        begun += 1;
        await writeEnded(store, home.editors[0] ?? "", `retained ${begun}`);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, writeOneByOne));
  } finally {
    await store.close();
  }
}

async function writeEnded({ operations, queues }: Store, editor: string, text: string): Promise<void> {
  const hash = createHash("sha256").update(text).digest("hex");
  const chain = await operations.chain(hash, { principal: "local", caller: null });
  const record = operation({
    ...{ logId: randomUUID(), hash, fingerprint: hash, tool: QUICK_TOOL, editor },
    ...{ after: null, entered: 1, acceptedAt: chain.now, createdBy: { caller: null, requestId: null } },
    ...{ incarnation: chain.incarnation, deliveredIn: chain.incarnation },
  });
  const created = await operations.create(record, JSON.stringify({ Text: text }), chain.version);
  if (created.kind !== "created") throw new Error(`not created: ${created.kind}`);
  const sent = await operations.change(
    record.logId,
    (before, now) => ({ record: { ...before, state: "dispatched", dispatchedAt: now } }),
    // No limit on running operations holds it back.
    { wasSent: true },
  );
  const result = await encodeResult({ Text: text });
  const ended = await operations.change(record.logId, (before, now) => ({
    record: { ...before, state: "completed", startedAt: now, endedAt: now, executionMs: 1 },
    result,
  }));
  if (sent.kind !== "applied" || ended.kind !== "applied") throw new Error(`${sent.kind}, ${ended.kind}`);
  // What the lane of an owner does.
  await queues.remove(record);
}
