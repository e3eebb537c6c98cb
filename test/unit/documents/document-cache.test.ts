/** What a document thread keeps. */
import { expect, test } from "vitest";
import { createDocumentCache } from "../../../src/documents/document-cache.js";

const text = Buffer.from('{"items":[1,2,3]}');

test("what was found out about a document is kept with it, and leaves with it", async () => {
  const cache = createDocumentCache({ cacheBytes: 2 * text.length, maxDocumentBytes: 1_000, maxHeapMb: 16 });
  let made = 0;
  const make = (): number => ++made;
  const open = (key: string) => cache.open(key, [text]);
  expect([(await open("a")).memo("x", make), (await open("a")).memo("x", make)]).toEqual([1, 1]);
  await open("b");
  await open("c");
  expect(cache.held()).toEqual(["b", "c"]);
  expect((await open("a")).memo("x", make)).toBe(2);
});

test("what a document was made from is given back at once, where nobody else has a part of its buffer", async () => {
  const cache = createDocumentCache({ cacheBytes: 1_000, maxDocumentBytes: 1_000, maxHeapMb: 16 });
  const own = Buffer.from(Uint8Array.from(text).buffer);
  const shared = Buffer.from(own.buffer.slice(0)).subarray(1);
  expect((await cache.open("own", [own])).text).toEqual(text);
  await cache.open("shared", [Buffer.from("["), shared, Buffer.from("]")]);
  expect([own.length, shared.length]).toEqual([0, text.length - 1]);
});
