/**
 * How much work a JSON Schema can make of one value: its parts, each as often as references lead to it. Checking a value
 * takes no more than this for each byte of it.
 */

interface Walk {
  root: object;
  /** Those that the walk is in. */
  open: Set<object>;
  known: Map<object, number>;
}

/** Throws for what may never end, or leads out of the schema: cycles, references by name, schemas with ids of their own. */
export function costOf(schema: object): number {
  const walk: Walk = { root: schema, open: new Set(), known: new Map() };
  return costIn(schema, walk);
}

function costIn(part: unknown, walk: Walk): number {
  if (typeof part !== "object" || part === null) return 1;
  const known = walk.known.get(part);
  if (known !== undefined) return known;
  if (walk.open.has(part)) throw new Error("a schema must not refer to itself");
  walk.open.add(part);
  let cost = 1;
  for (const each of Object.values(part)) cost += costIn(each, walk);
  for (const name of ["$dynamicRef", "$recursiveRef"])
    if (name in part) throw new Error(`a schema must not have ${name}`);
  if ("$id" in part && part !== walk.root) throw new Error("a part of a schema must not have an $id");
  if ("$ref" in part && typeof part.$ref === "string") cost += costIn(targetOf(part.$ref, walk.root), walk);
  walk.open.delete(part);
  walk.known.set(part, cost);
  return cost;
}

/** By JSON Pointer (RFC 6901) in a fragment. */
function targetOf(reference: string, root: object): unknown {
  if (reference !== "#" && !reference.startsWith("#/"))
    throw new Error(`a schema must not refer to ${JSON.stringify(reference.slice(0, 100))}`);
  const steps = decodeURIComponent(reference).split("/").slice(1);
  let at: unknown = root;
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined;
  }
  return at;
}
