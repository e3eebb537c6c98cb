import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { BrokerError, ERRORS, isErrorCode } from "../../../src/shared/errors.js";

interface Line {
  code: string;
  http: number;
  rpc: number;
  retry: string;
}

describe("the closed table of errors", () => {
  const documented = linesOf(
    readFileSync(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8"),
  );

  test("every code of the table is documented, and nothing else is", () => {
    expect(documented.map(({ code }) => code).sort()).toEqual(Object.keys(ERRORS).sort());
  });

  test.each(Object.entries(ERRORS))(
    "%s is documented as it is: status, JSON-RPC code, retry",
    (code, line) => {
      const { http, rpc, retry } = line;
      expect(documented.find((entry) => entry.code === code)).toEqual({ code, http, rpc, retry });
    },
  );

  test("every line says what to do next, in whole sentences", () => {
    for (const { next } of Object.values(ERRORS)) expect(next).toMatch(/^\S.*\.$/s);
  });

  test("no error that allows sending again is about a call that ran", () => {
    for (const [code, { http, retry }] of Object.entries(ERRORS)) {
      if (http === 400) expect([code, retry]).toEqual([code, "never"]);
    }
    expect(ERRORS.OUTCOME_UNKNOWN.retry).toBe("ask");
    expect(ERRORS.EXPIRED.retry).toBe("safe");
  });
});

describe("a refusal", () => {
  test("says what happened, then what to do", () => {
    const cause = new Error("connection lost");
    const error = new BrokerError("EDITOR_UNKNOWN", "No such Editor.", { candidates: ["shop@1"] }, cause);
    expect(error.message).toBe(`No such Editor. ${ERRORS.EDITOR_UNKNOWN.next}`);
    expect(error).toMatchObject({ code: "EDITOR_UNKNOWN", details: { candidates: ["shop@1"] }, cause });
  });

  test("an inherited name is no code", () => {
    expect(isErrorCode("NO_EDITOR")).toBe(true);
    expect(isErrorCode("toString")).toBe(false);
  });
});

/** Table rows that begin with a code: `` | `CODE` | http | rpc | retry | … | ``. */
function linesOf(markdown: string): Line[] {
  return [...markdown.matchAll(/^\| `(\w+)` \| *(\d+) *\| *(-?\d+) *\| *(\w+) *\|/gm)].map(
    ([, code = "", http, rpc, retry = ""]) => ({ code, http: Number(http), rpc: Number(rpc), retry }),
  );
}
