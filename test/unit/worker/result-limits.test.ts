/** A result is asked for within a limit, and what comes is what was asked for. */
import { expect, test } from "vitest";
import { decodeResult } from "../../../src/shared/store/operations/record.js";
import { RpcFailure } from "../../../src/shared/wire/rpc.js";
import { EDITOR_CODES, type Outcome } from "../../../src/shared/wire/wire.js";
import type { ResultPart } from "../../../src/worker/editor/editor-calls.js";
import { ResultRefused, storedResultOf } from "../../../src/worker/execution/outcome.js";
import { ConnectionLost } from "../../../src/worker/transport/disconnect.js";

const MB = 1024 * 1024;
const done = (more: Partial<Outcome>): Outcome => ({ status: "completed", endedAt: 1, ...more });
const partOf = (text: string, offset: number, total = text.length): ResultPart => ({
  offset,
  total,
  base64: Buffer.from(text).toString("base64"),
});

/** Answers by the offset that is asked for. */
function taking(outcome: Partial<Outcome>, answer: (offset: number, length: number) => ResultPart) {
  const asked: number[] = [];
  const resultPart = async (_id: string, offset: number, length: number): Promise<ResultPart> => {
    asked.push(offset);
    if (asked.length > 1_000) throw new Error("it is asked for without end");
    return answer(offset, length);
  };
  return { asked, stored: storedResultOf({ resultPart }, "op", done(outcome), 10 * MB) };
}

test.each([1e12, Number.MAX_VALUE, 10 * MB + 1])(
  "a result of %d bytes is not asked for",
  async (resultBytes) => {
    const { asked, stored } = taking({ resultBytes }, () => partOf("x", 0));
    await expect(stored).rejects.toMatchObject({ name: "ResultRefused", type: "result_too_large" });
    expect(asked).toEqual([]);
  },
);

test.each([-1, 0, 0.5])("a result of %d bytes is none", async (resultBytes) => {
  const { asked, stored } = taking({ resultBytes }, () => partOf("x", 0));
  await expect(stored).rejects.toMatchObject({ type: "result_unreadable" });
  expect(asked).toEqual([]);
});

test.each<[string, (offset: number, length: number) => ResultPart]>([
  ["are empty", (offset) => partOf("", offset, 9)],
  ["repeat the first", () => partOf("111", 0, 9)],
  ["are longer than was asked", (offset) => partOf("1".repeat(10), offset, 9)],
  ["are of another length in all", (offset) => partOf("111", offset, 10)],
  ["are not JSON", (offset) => partOf("abc", offset, 9)],
])("parts that %s are refused", async (_what, answer) => {
  const { asked, stored } = taking({ resultBytes: 9 }, answer);
  await expect(stored).rejects.toMatchObject({ name: "ResultRefused", type: "result_unreadable" });
  expect(asked.length).toBeLessThan(4);
});

test("parts that are as they were promised are stored byte for byte", async () => {
  const text = '{ "a": 1.00, "b": 12345678901234567890 }';
  const { stored } = taking({ resultBytes: text.length }, (offset) =>
    partOf(text.slice(offset, offset + 7), offset, text.length),
  );
  const result = await stored;
  expect(await decodeResult(result?.pieces ?? [])).toBe(text);
});

test("an inline result counts as well, and so does its depth", async () => {
  const long = taking({ result: "x".repeat(11 * MB) }, () => partOf("", 0));
  await expect(long.stored).rejects.toMatchObject({ type: "result_too_large" });
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;
  const { stored } = taking({ result: deep }, () => partOf("", 0));
  await expect(stored).rejects.toMatchObject({ type: "result_unreadable" });
});

test("what passes is asked again: a lost connection, a ledger that cannot be read now", async () => {
  const passing = [
    new ConnectionLost("reset", true),
    new RpcFailure({ code: EDITOR_CODES.LEDGER_UNAVAILABLE, message: "not now" }),
  ];
  for (const error of passing) {
    const { stored } = taking({ resultBytes: 9 }, () => {
      throw error;
    });
    await expect(stored).rejects.toBe(error);
  }
  const { stored } = taking({ resultBytes: 9 }, () => {
    throw new RpcFailure({ code: -32602, message: "unknown operation" });
  });
  await expect(stored).rejects.toBeInstanceOf(ResultRefused);
});
