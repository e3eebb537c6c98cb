/** One who asks much of large documents does not keep others from theirs. Needs the built files. */
import { afterEach, expect, test } from "vitest";
import { createDocuments, type Documents, type DocumentsOptions } from "../../../src/documents/documents.js";

const ENDLESS = "def f: f; f";
/** Longer than any healthy request of these tests on any machine. */
const AMPLE = 120_000;

let open: Documents[] = [];
afterEach(async () => {
  for (const documents of open.splice(0)) await documents.close();
  open = [];
});

function stage(options: DocumentsOptions): Documents {
  const load = async () => [new TextEncoder().encode('{"items":[1,2,3]}')];
  const documents = createDocuments({ load }, { timeoutMs: AMPLE, ...options });
  open.push(documents);
  return documents;
}

const kindOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => "answered",
    (error: { kind?: string }) => error.kind,
  );

test("six endless filters of one hold one thread of two: a page of another is turned meanwhile", async () => {
  const documents = stage({ threads: 2 });
  const endless = Array.from({ length: 6 }, (_, each) =>
    kindOf(documents.filter(`a${each}`, ENDLESS, { asker: "ann" })),
  );
  const page = await documents.read("b", { kind: "page", page: 1, pageSizeBytes: 1024 }, { asker: "ben" });
  expect(page).toMatchObject({ page: 1 });
  expect((await documents.filter("b", ".items[1]", { asker: "ben" })).json.toString()).toBe("2");
  await documents.close();
  expect(await Promise.all(endless)).toEqual(Array(6).fill("closed"));
});

test("with one thread they take turns: another's is the next, however many wait before it", async () => {
  const documents = stage({ threads: 1 });
  const done: string[] = [];
  const ask = (asker: string) => documents.filter("a", ".items[0]", { asker }).then(() => done.push(asker));
  const first = ask("ann");
  const waiting = [ask("ann"), ask("ann"), ask("ben")];
  await Promise.all([first, ...waiting]);
  expect(done).toEqual(["ann", "ben", "ann", "ann"]);
});

test("one that has too many waiting is refused; another is not", async () => {
  const documents = stage({ threads: 1, maxWaitingOfOne: 2 });
  const running = kindOf(documents.filter("a", ENDLESS, { asker: "ann" }));
  const waiting = [1, 2].map(() => kindOf(documents.filter("a", ".", { asker: "ann" })));
  expect(await kindOf(documents.filter("a", ".", { asker: "ann" }))).toBe("busy");
  const other = kindOf(documents.filter("a", ".", { asker: "ben" }));
  await documents.close();
  expect(await Promise.all([running, ...waiting, other])).toEqual(["closed", "closed", "closed", "closed"]);
});
