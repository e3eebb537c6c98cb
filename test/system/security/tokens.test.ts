/** Who is let in: the token file, the local token, and the gateway's answer to a client without one. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastify } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Authenticator, authenticate, tokenIn } from "../../../src/gateway/auth/authenticator.js";
import { ensureLocalToken, withLocalToken } from "../../../src/gateway/auth/local-token.js";
import { createTokens } from "../../../src/gateway/auth/tokens.js";

const nameOf = async (auth: Authenticator, token: string | undefined) =>
  (await auth.identify(token))?.principal.name;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-tokens-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the token file", () => {
  test("names the principal of a token and keeps only its hash, for its owner's eyes", async () => {
    const file = join(folder, "data", "tokens.json");
    const tokens = createTokens(file);
    const ann = await tokens.create("ann");
    const ben = await tokens.create("ben");
    expect(await nameOf(tokens, ann)).toBe("ann");
    expect(await nameOf(tokens, ben)).toBe("ben");
    expect(readFileSync(file, "utf8")).not.toContain(ann.slice(4));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("lets nobody in without a token, with a wrong one, or with the hash of one", async () => {
    const file = join(folder, "tokens.json");
    const tokens = createTokens(file);
    const ann = await tokens.create("ann");
    const [entry] = await tokens.list();
    for (const wrong of [undefined, "", `${ann}x`, ann.slice(0, -1), entry?.tokens[0]?.sha256, "ann"]) {
      expect(await tokens.identify(wrong)).toBeUndefined();
    }
  });

  test("a token revoked by another process is refused from the next request on", async () => {
    const file = join(folder, "tokens.json");
    const gateway = createTokens(file);
    const ann = await createTokens(file).create("ann");
    expect(await nameOf(gateway, ann)).toBe("ann");
    expect(await createTokens(file).revoke("ann")).toBe(true);
    expect(await gateway.identify(ann)).toBeUndefined();
    const again = await createTokens(file).create("ann");
    expect(again).not.toBe(ann);
    expect(await nameOf(gateway, again)).toBe("ann");
  });

  test("that cannot be read lets nobody in and says so", async () => {
    const file = join(folder, "tokens.json");
    for (const broken of ["{", '{"tokens":[{"principal":"ann"}]}', "[]"]) {
      writeFileSync(file, broken);
      await expect(createTokens(file).identify("x")).rejects.toMatchObject({ code: "TOKENS_UNREADABLE" });
    }
  });

  test("that cannot be read is not quoted, and callers are not told where it is", async () => {
    const file = join(folder, "tokens.json");
    writeFileSync(file, '{"tokens": [ujb_secret]}');
    const tokens = createTokens(file);
    await expect(tokens.list()).rejects.toThrow(/tokens\.json is not a token file: it is not JSON/);
    const app = fastify();
    app.addHook(
      "onRequest",
      authenticate(tokens, "Bearer", (reply, { code, message }) => reply.code(503).send({ code, message })),
    );
    const ask = () => app.inject({ url: "/", headers: { authorization: "Bearer x" } });
    expect((await ask()).body).toMatch(/^\{"code":"TOKENS_UNREADABLE","message":"[^/]+"\}$/);
    rmSync(file);
    mkdirSync(file);
    expect((await ask()).body).toMatch(/^\{"code":"TOKENS_UNREADABLE","message":"[^/]+"\}$/);
    await app.close();
  });

  test.each(["", "local", "a b", "../etc", "-x", "a".repeat(65)])(
    "refuses the principal %j",
    async (name) => {
      const tokens = createTokens(join(folder, "tokens.json"));
      await expect(tokens.create(name)).rejects.toMatchObject({ code: "TOKEN_REFUSED" });
    },
  );
});

describe("the local token", () => {
  test("is one for all processes that start at once, and only its owner can read it", async () => {
    const file = join(folder, "data", "local.token");
    const made = await Promise.all(Array.from({ length: 8 }, () => ensureLocalToken(file)));
    expect(new Set(made).size).toBe(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const auth = withLocalToken(createTokens(join(folder, "none.json")), made[0] ?? "");
    expect(await nameOf(auth, made[0])).toBe("local");
    expect(await auth.identify(`${made[0]} `)).toBeUndefined();
  });

  test("an empty file is no token: that is said, and nobody is let in by it", async () => {
    const file = join(folder, "local.token");
    writeFileSync(file, "");
    await expect(ensureLocalToken(file)).rejects.toThrow(/local\.token holds no token\. Remove it/);
  });
});

test.each([
  ["Bearer abc", "abc"],
  ["bearer  abc", "abc"],
  [`Basic ${Buffer.from("me:a:b").toString("base64")}`, "a:b"],
  [`Basic ${Buffer.from("me:").toString("base64")}`, undefined],
  ["Digest abc", undefined],
  ["Bearer", undefined],
  [undefined, undefined],
])("the token in the header %j is %j", (header, token) => expect(tokenIn(header)).toBe(token));

test("commands that write at once wait for each other: what one says is so", async () => {
  const file = join(folder, "tokens.json");
  await createTokens(file).create("mallory");
  const names = ["a", "b", "c", "d"];
  const revoked = createTokens(file).revoke("mallory");
  const made = await Promise.all(names.map((name) => createTokens(file).create(name)));
  expect(await revoked).toBe(true);
  const tokens = createTokens(file);
  expect((await tokens.list()).map(({ name }) => name).sort()).toEqual(names);
  for (const [at, name] of names.entries()) expect(await nameOf(tokens, made[at])).toBe(name);
});

test("a token file that others may write lets nobody in", async () => {
  const file = join(folder, "tokens.json");
  const token = await createTokens(file).create("ann");
  chmodSync(file, 0o666);
  await expect(createTokens(file).identify(token)).rejects.toThrow(
    /may be written by other users: chmod 600/,
  );
});
