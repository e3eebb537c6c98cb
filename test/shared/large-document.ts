/** Documents that tests cut into pages, project and preview. */
import fc from "fast-check";
import type { Page } from "../../src/shared/page.js";

/** JSON as a program could meet it: keys such as `__proto__`, any text (halves of surrogate pairs too), nested lists. */
export const anyItem = fc.jsonValue({ stringUnit: "binary", maxDepth: 3 });

/** An object whose keys may be anything but the given ones. */
export function fieldsBeside(...taken: string[]): fc.Arbitrary<Record<string, unknown>> {
  const key = fc
    .oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "_pagination", "a.b", "0"))
    .filter((name) => !taken.includes(name));
  return fc
    .array(fc.tuple(key, fc.oneof(fc.string(), fc.integer(), fc.dictionary(fc.string(), fc.integer()))), {
      maxLength: 6,
    })
    .map((entries) => Object.fromEntries(entries));
}

/** `{"name": …, "children": [ … ]}`, so many levels down. */
export function nested(levels: number): unknown {
  return JSON.parse(`${'{"name":"a","children":['.repeat(levels)}${"]}".repeat(levels)}`);
}

/** UTF-8 bytes of the value as JSON, by the way that jsonBytes avoids. */
export function writtenBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A scene object as bridges list them, about 150 bytes. */
export function gameObject(id: number) {
  return {
    name: `Wall_${id}`,
    instanceId: -id,
    path: `/Level/Walls/Wall_${id}`,
    position: { x: id / 3, y: 0, z: -id },
    componentNames: ["Transform", "BoxCollider"],
  };
}

/** The items of a page, wherever they are. */
export function itemsOf({ data, pagination: { field } }: Page): unknown[] {
  return (field === undefined ? data : (data as Record<string, unknown>)[field]) as unknown[];
}
