/** A result as UTF-8 JSON in blocks, made piece by piece, so that only its text is in memory. */

export interface ResultText {
  /** Bytes. */
  readonly length: number;
  part(offset: number, length: number): Buffer;
}

/** A JSON array whose items are made while they are written: it never exists as a whole. */
export interface LazyList extends Iterable<unknown> {
  toJSON(): unknown[];
}

const BLOCK_BYTES = 64 * 1024;

export function lazyList(count: number, item: (index: number) => unknown): LazyList {
  return {
    *[Symbol.iterator]() {
      for (let index = 0; index < count; index += 1) yield item(index);
    },
    toJSON: () => Array.from({ length: count }, (_, index) => item(index)),
  };
}

export function resultText(result: unknown): ResultText {
  const blocks: Buffer[] = [];
  let pending = "";
  const flush = (): void => {
    if (pending !== "") blocks.push(Buffer.from(pending, "utf8"));
    pending = "";
  };
  for (const piece of pieces(result ?? null)) {
    pending += piece;
    if (pending.length >= BLOCK_BYTES) flush();
  }
  flush();
  return {
    length: blocks.reduce((sum, block) => sum + block.length, 0),
    part(offset, length) {
      const wanted: Buffer[] = [];
      let at = 0;
      for (const block of blocks) {
        const [from, to] = [Math.max(0, offset - at), Math.min(block.length, offset + length - at)];
        if (from < to) wanted.push(block.subarray(from, to));
        at += block.length;
      }
      return Buffer.concat(wanted);
    },
  };
}

/** The output of JSON.stringify: the fields of an object one by one, and lists in it item by item. */
function* pieces(value: unknown): Generator<string> {
  if (isIterable(value)) {
    let before = "[";
    for (const item of value) {
      yield before + (JSON.stringify(item) ?? "null");
      before = ",";
    }
    yield before === "[" ? "[]" : "]";
  } else if (isPlainObject(value)) {
    let before = "{";
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* pieces(field);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  } else {
    yield JSON.stringify(value) ?? "null";
  }
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.iterator in value;

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !("toJSON" in value);
