import { describe, expect, it } from "vitest";
import { readRedisUrl, withPassword } from "../../../src/shared/redis-url.js";

describe("REDIS_URL", () => {
  it.each([
    ["redis://h", { hosts: [{ host: "h", port: 6379 }], masterName: undefined, isTls: false, db: 0 }],
    [
      "rediss://ann:p%2F@[::1]:7/3",
      { hosts: [{ host: "::1", port: 7 }], isTls: true, db: 3, username: "ann", password: "p/" },
    ],
    [
      "redis+sentinel://h1/main",
      { hosts: [{ host: "h1", port: 26379 }], masterName: "main", db: 0, password: "" },
    ],
    [
      "redis+sentinel://:p%23@h1:1,h2,[::1]:3/main/2",
      {
        hosts: [
          { host: "h1", port: 1 },
          { host: "h2", port: 26379 },
          { host: "::1", port: 3 },
        ],
        ...{ masterName: "main", db: 2, password: "p#", isTls: false },
      },
    ],
  ])("%s is read", (text, expected) => {
    expect(readRedisUrl(text)).toMatchObject(expected);
    const other = withPassword(text, "a/b,c@h1");
    expect(readRedisUrl(other)).toEqual({ ...readRedisUrl(text), password: "a/b,c@h1" });
  });

  it("is shown without its password", () => {
    expect(readRedisUrl("redis+sentinel://ann:secret@h1:1,h2/main").shown).toBe(
      "redis+sentinel://h1:1,h2/main",
    );
  });

  it.each([
    "redis+sentinel://h1,h2",
    "redis+sentinel://:p/w@h1,h2/main",
    "redis+sentinel://h1,h2:x/main",
    "redis+sentinel://ann:12/secret@h1/main",
    "rediss+sentinel://h1,h2/main",
    "redis://:a/b@127.0.0.1:6379",
    "127.0.0.1:6379",
    "localhost:6379",
    "http://127.0.0.1:6379",
    // TLS would be left out without a word.
    "valkeys://127.0.0.1:6379",
  ])("%s is refused", (text) => {
    expect(() => readRedisUrl(text)).toThrow(TypeError);
  });
});
