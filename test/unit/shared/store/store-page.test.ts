/** docs/reference/store.md lists every key and channel of src/shared/store/keys.ts as it is, and no other. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { channels, keys } from "../../../../src/shared/store/keys.js";
import { keysOfPage, shapeOf } from "../../../harness/redis/store-page.js";

const source = readFileSync(new URL("../../../../src/shared/store/keys.ts", import.meta.url), "utf8");
const documented = keysOfPage();

/** By name, the key with `<>` for each part of its own. */
const SHAPES = Object.fromEntries(
  Object.entries(keys).map(([name, key]) => {
    const parts = ["<>", "<>"] as [string, never];
    return [name, typeof key === "string" ? key : (key as (...parts: [string, never]) => string)(...parts)];
  }),
);

test("every key is documented, and nothing else is", () => {
  expect(documented.map(({ key }) => shapeOf(key)).sort()).toEqual(Object.values(SHAPES).sort());
});

test.each(Object.entries(SHAPES))("%s is documented with the type that its comment says", (name, shape) => {
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/).)*)\\*/\\s*${name}:`, "s").exec(source)?.[1] ?? "";
  const type = /\b(STRING|INTEGER|HASH|LIST|SET|ZSET|STREAM)\b/.exec(comment)?.[1];
  const types = documented.filter(({ key }) => shapeOf(key) === shape).flatMap((row) => row.types);
  // What BullMQ keeps under its names has all types.
  if (type) expect(types).toContain(type === "INTEGER" ? "string" : type.toLowerCase());
  else expect(comment).toContain("BullMQ");
});

test("every channel is named, and no other", () => {
  const page = readFileSync(new URL("../../../../docs/reference/store.md", import.meta.url), "utf8");
  const section = page.split("## Channels")[1] ?? "";
  const named = [...section.matchAll(/`(\{ujb\}:[\w-]+)`/g)].map(([, channel]) => channel);
  expect(named.sort()).toEqual(Object.values(channels).sort());
});
