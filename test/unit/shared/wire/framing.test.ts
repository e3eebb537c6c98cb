import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFrameParser, encodeFrame, type Frame } from "../../../../src/shared/wire/rpc.js";

interface GoldenCase {
  name: string;
  maxBytes: number;
  chunks: string[];
  frames: Frame[];
}

const golden = JSON.parse(readFileSync(new URL("../../../golden/framing.json", import.meta.url), "utf8")) as {
  cases: GoldenCase[];
};

describe("the parser follows the golden table", () => {
  test.each(golden.cases.map((entry) => [entry.name, entry] as const))("%s", (_name, entry) => {
    const chunks = entry.chunks.map((chunk) => Buffer.from(chunk, "base64"));
    expect(framesOf(chunks, entry.maxBytes)).toEqual(entry.frames);
  });

  test.each(golden.cases.map((entry) => [entry.name, entry] as const))(
    "%s, in one chunk and byte by byte",
    (_name, entry) => {
      const bytes = Buffer.concat(entry.chunks.map((chunk) => Buffer.from(chunk, "base64")));
      expect(framesOf([bytes], entry.maxBytes)).toEqual(entry.frames);
      expect(
        framesOf(
          [...bytes].map((byte) => Buffer.from([byte])),
          entry.maxBytes,
        ),
      ).toEqual(entry.frames);
    },
  );
});

describe("a stream of several frames", () => {
  const texts = ['{"id":1}', "", '{"text":"日本 🎮"}', "x".repeat(300)];
  const stream = Buffer.concat(texts.map(encodeFrame));
  const expected = texts.map((text) => ({ kind: "message", text }));

  test("is read the same at every split point", () => {
    for (let at = 0; at <= stream.length; at += 1) {
      expect(framesOf([stream.subarray(0, at), stream.subarray(at)], 1024)).toEqual(expected);
    }
  });

  test("is read the same in chunks of any size", () => {
    for (let size = 1; size <= stream.length; size += 1)
      expect(framesOf(cut(stream, size), 1024)).toEqual(expected);
  });

  test("is not there before its last byte", () => {
    const parser = createFrameParser(1024);
    const one = encodeFrame("{}");
    parser.push(one.subarray(0, -1));
    expect(parser.next()).toBeUndefined();
    parser.push(one.subarray(-1));
    expect(parser.next()).toEqual({ kind: "message", text: "{}" });
    expect(parser.next()).toBeUndefined();
  });
});

test("an over-long frame of a gigabyte is skipped without keeping it", () => {
  const parser = createFrameParser(1024);
  const length = 1024 * 1024 * 1024;
  parser.push(Buffer.from(`Content-Length: ${length}\r\n\r\n`));
  expect(parser.next()).toEqual({ kind: "too_long", length });
  const chunk = Buffer.alloc(16 * 1024 * 1024);
  const before = process.memoryUsage().arrayBuffers;
  for (let sent = 0; sent < length; sent += chunk.length) {
    // A copy of each, so that keeping them would be seen.
    parser.push(Buffer.from(chunk));
    expect(parser.next()).toBeUndefined();
  }
  parser.push(encodeFrame("{}"));
  expect(parser.next()).toEqual({ kind: "message", text: "{}" });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(length);
});

describe("a long body of more JSON values than may be", () => {
  const list = (values: number) => `[${"{},".repeat(values)}"${"x".repeat(300_000)}"]`;

  test("is refused like one that is too long, and what follows is read", () => {
    const parser = createFrameParser(1_000_000, 1000);
    const full = encodeFrame(list(500));
    const frames = Buffer.concat([encodeFrame(list(499)), full, encodeFrame("{}")]);
    parser.push(frames);
    expect(parser.next()).toEqual({ kind: "message", text: list(499) });
    expect(parser.next()).toEqual({ kind: "too_long", length: list(500).length, maxValues: 1000 });
    expect(parser.midFrame()).toBe(true);
    expect(parser.next()).toEqual({ kind: "message", text: "{}" });
    expect(parser.midFrame()).toBe(false);
  });

  test("is read where no such limit was given", () => {
    expect(framesOf([encodeFrame(list(500))], 1_000_000)).toEqual([{ kind: "message", text: list(500) }]);
  });
});

describe("whatever comes", () => {
  const good = Buffer.concat(['{"a":1}', '{"b":"é"}'].map(encodeFrame));

  test("random bytes never throw, and nothing follows a malformed frame", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
        const frames = framesOf(
          chunks.map((chunk) => Buffer.from(chunk)),
          64,
        );
        const malformed = frames.findIndex((frame) => frame.kind === "malformed");
        expect(malformed < 0 || malformed === frames.length - 1).toBe(true);
      }),
    );
  });

  test("a good stream with some bytes changed never throws and never exceeds the limit", () => {
    const mutations = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(mutations, fc.integer({ min: 1, max: 20 }), (changes, size) => {
        const bytes = Buffer.from(good);
        for (const [at, value] of changes) bytes[at] = value;
        for (const frame of framesOf(cut(bytes, size), 64)) {
          if (frame.kind === "message") expect(frame.text.length).toBeLessThanOrEqual(64);
        }
      }),
    );
  });

  test("any texts survive the way through any chunks", () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.integer({ min: 1, max: 50 }), (texts, size) => {
        const frames = framesOf(cut(Buffer.concat(texts.map(encodeFrame)), size), 1024);
        expect(frames).toEqual(texts.map((one) => ({ kind: "message", text: one })));
      }),
    );
  });
});

/** All frames of the chunks; stops at a malformed one, whose reason must say something and is not compared. */
function framesOf(chunks: Buffer[], maxBytes: number): (Frame | { kind: "malformed" })[] {
  const parser = createFrameParser(maxBytes);
  const frames: (Frame | { kind: "malformed" })[] = [];
  for (const chunk of chunks) {
    parser.push(chunk);
    for (let frame = parser.next(); frame; frame = parser.next()) {
      if (frame.kind !== "malformed") {
        frames.push(frame);
        continue;
      }
      expect(frame.reason).toMatch(/\w/);
      expect(parser.next()).toEqual(frame);
      return [...frames, { kind: "malformed" }];
    }
  }
  return frames;
}

function cut(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}
