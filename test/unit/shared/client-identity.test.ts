import { expect, test } from "vitest";
import { clientIdentity, clientLabel } from "../../../src/shared/principal.js";

test("name and version are one label", () => {
  expect(clientLabel({ name: "claude-code", version: "1.0.3" })).toBe("claude-code 1.0.3");
  expect(clientLabel({ name: "claude-code", version: "" })).toBe("claude-code");
  expect(clientLabel({ name: " \t", version: "2" })).toBe("\\t 2");
  expect(clientLabel({ name: "  ", version: "" })).toBe("unnamed client");
});

test("control characters and marks of direction are shown as their codes, on one line", () => {
  const label = clientLabel({ name: "a\u001b[2Jb\nc\u202ed\u2028", version: "1\u0000\u009f" });
  expect(label).toBe("a\\u001b[2Jb\\nc\\u202ed\\u2028 1\\u0000\\u009f");
});

test("the length is bounded, whatever the text becomes", () => {
  for (const text of [
    "x".repeat(10_000),
    "\u0000".repeat(10_000),
    "😀".repeat(10_000),
    `${"x".repeat(62)}😀x`,
  ]) {
    const { name, version } = clientIdentity({ name: text, version: text });
    expect(name.length).toBeLessThanOrEqual(64);
    expect(version.length).toBeLessThanOrEqual(32);
    expect(name).toMatch(/…$/);
    expect(name).not.toMatch(/\p{Cs}/u);
  }
  expect(clientIdentity({ name: "x".repeat(64), version: "" }).name).toBe("x".repeat(64));
});

test("half a character is none", () => {
  expect(clientIdentity({ name: "a\ud83d", version: "\ude00" })).toEqual({
    name: "a\ufffd",
    version: "\ufffd",
  });
});

test("what passed once passes again unchanged", () => {
  for (const text of [
    "\u0000".repeat(100),
    "a".repeat(100),
    "😀".repeat(100),
    "a\nb",
    `a${" ".repeat(99)}b`,
  ]) {
    const once = clientIdentity({ name: text, version: text });
    expect(clientIdentity(once)).toEqual(once);
  }
});
