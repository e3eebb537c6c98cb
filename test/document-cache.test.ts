/** What a thread keeps parsed: values leave for others, their texts stay. */
import { expect, test } from "vitest";
import { createDocumentCache } from "../src/documents/document-cache.js";
import { parseCost } from "../src/documents/parse-cost.js";

const text = Buffer.from('{"items":[1,2,3]}');
const cost = parseCost(text);

test("a value is forgotten when another needs its room, and parsed again when asked for", () => {
  const cache = createDocumentCache({ cacheBytes: 1_000, maxDocumentBytes: 1_000, parsedBytes: 2 * cost });
  const [a, b, c] = ["a", "b", "c"].map((key) => cache.open(key, [text]));
  for (const document of [a, b, c]) expect(document?.value()).toEqual({ items: [1, 2, 3] });
  expect([a, b, c].map((document) => document?.parsedBytes())).toEqual([0, cost, cost]);
  expect(cache.held()).toEqual(["a", "b", "c"]);
  expect(a?.value()).toEqual({ items: [1, 2, 3] });
});
