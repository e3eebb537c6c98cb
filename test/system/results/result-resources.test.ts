/** Results as MCP content and as resources, read by a real client. */
import { describe, expect, test } from "vitest";
import { PICTURE_TYPES, picture } from "../../harness/pictures.js";
import { useGiving } from "../../harness/system/giving.js";

const start = useGiving();

const PNG = picture("image/png", 90_000);
const shot = (data: string) => ({
  content: [
    { type: "text", text: "The scene view." },
    { type: "image", data, mimeType: "image/png" },
  ],
});
const uriOf = (id: string): string => `unity-broker://results/${id}`;

describe("a picture", () => {
  test("is handed on as a block, described in the text, and offered as a resource", async () => {
    const { client, raw } = await start();
    const given = await raw(shot(PNG));
    const [text, image, link] = given.content as [{ text: string }, object, { uri: string }];
    const answer = JSON.parse(text.text) as { log_id: string; result: { content: unknown[] } };
    expect(image).toEqual({ type: "image", data: PNG, mimeType: "image/png" });
    expect(link).toMatchObject({ type: "resource_link", uri: uriOf(answer.log_id), mimeType: "image/png" });
    expect(answer.result.content).toEqual([
      { type: "text", text: "The scene view." },
      { type: "image", mimeType: "image/png", bytes: 90_000, uri: link.uri },
    ]);
    const { contents } = await client.readResource({ uri: link.uri });
    expect(contents).toEqual([
      { uri: link.uri, mimeType: "text/plain", text: "The scene view." },
      { uri: link.uri, mimeType: "image/png", blob: PNG },
    ]);
  });

  test("too large for an answer is a link alone", async () => {
    const { client, raw } = await start();
    const large = PNG.repeat(10);
    const { content } = await raw(shot(large));
    expect((content as { type: string }[]).map(({ type }) => type)).toEqual(["text", "resource_link"]);
    const { uri } = (content as { uri: string }[])[1] ?? { uri: "" };
    const { contents } = await client.readResource({ uri });
    expect(contents[1]).toMatchObject({ mimeType: "image/png", blob: large });
  });
});

/** The APIs of models see four types, and refuse a request with anything else that is called a picture. */
describe("what is called a picture", () => {
  const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");
  const SEEN = [
    ...PICTURE_TYPES.map((type) => [type, picture(type), type] as const),
    ["image/jpg", picture("image/jpeg"), "image/jpeg"],
    ["image/pjpeg", picture("image/jpeg"), "image/jpeg"],
    ["image/png", picture("image/webp"), "image/webp"],
    ["png", picture("image/png"), "image/png"],
  ] as const;
  const UNSEEN = [
    ["image/svg+xml", base64('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ["image/x-tga", base64("\0\0\x02\0\0\0\0\0\0\0\0\0\x01\0\x01\0")],
    ["image/tiff", base64("II*\0")],
    ["image/bmp", base64("BM\x46")],
    ["image/webp", base64("RIFF\0\0\0\0WAVE")],
    ["image/png", base64("\x89PNG")],
    ["image/png", base64("not found")],
    ["image/jpeg", ""],
  ] as const;
  const BYTES = "application/octet-stream";

  test("is seen by the type of its bytes", async () => {
    const { client, raw } = await start();
    for (const [mimeType, data, type] of SEEN) {
      const given = await raw({ content: [{ type: "image", data, mimeType }] });
      const [, image, link] = given.content as [object, object, { uri: string }];
      expect(image, mimeType).toEqual({ type: "image", data, mimeType: type });
      expect(link).toMatchObject({ type: "resource_link", mimeType: type });
      const { contents } = await client.readResource({ uri: link.uri });
      expect(contents).toEqual([{ uri: link.uri, mimeType: type, blob: data }]);
    }
  });

  test("and whose bytes are none is words, which say how it is read", async () => {
    const { client, raw } = await start();
    for (const [mimeType, data] of UNSEEN) {
      const given = await raw({ content: [{ type: "image", data, mimeType }] });
      const [, said, link, ...more] = given.content as [object, object, { uri: string }];
      const bytes = Buffer.from(data, "base64").length;
      expect(said).toEqual({
        type: "text",
        text: `A picture is not shown: ${mimeType}, ${bytes} bytes. Models see PNG, JPEG, GIF and WebP. Read its bytes as the resource ${link.uri}.`,
      });
      expect(link).toMatchObject({ type: "resource_link", mimeType: BYTES });
      expect(more).toEqual([]);
      const { contents } = await client.readResource({ uri: link.uri });
      expect(contents).toEqual([{ uri: link.uri, mimeType: BYTES, blob: data }]);
    }
  });

  test("a resource inside a result has the type of its bytes too", async () => {
    const { raw } = await start();
    const resource = (mimeType: string, blob: string) => ({
      type: "resource",
      resource: { uri: "asset://a", mimeType, blob },
    });
    const [png, svg, zip] = [picture("image/png"), base64("<svg/>"), base64("PK")];
    const { content } = await raw({
      content: [resource("image/jpg", png), resource("image/svg+xml", svg), resource("application/zip", zip)],
    });
    expect((content as object[]).slice(1, 4)).toEqual([
      resource("image/png", png),
      resource(BYTES, svg),
      resource("application/zip", zip),
    ]);
  });
});

describe("resources", () => {
  test("are listed with their template, as JSON text, in pieces where they are large", async () => {
    const { client, give } = await start();
    const rows = Array.from({ length: 90_000 }, (_, id) => ({ id, name: `Würfel ${id}`, tags: ["a", "b"] }));
    const [small, large] = [await give({ ok: "ü" }), await give(rows)];
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: "unity-broker://results/{log_id}{?offset,length}" },
      { uriTemplate: "unity-broker://results/{log_id}/artifacts/{+path}" },
      { uriTemplate: "unity-broker://editors/{editor}" },
      { uriTemplate: "unity-broker://operations/{log_id}" },
    ]);
    expect((await client.listResources()).resources).toMatchObject([
      { uri: "unity-broker://editors" },
      { uri: "unity-broker://operations" },
      { uri: uriOf(large.log_id), title: expect.stringContaining("give"), size: expect.any(Number) },
      { uri: uriOf(small.log_id), mimeType: "application/json", size: 11 },
    ]);
    const { contents } = await client.readResource({ uri: uriOf(small.log_id) });
    expect(contents).toEqual([
      { uri: uriOf(small.log_id), mimeType: "application/json", text: '{"ok":"ü"}' },
    ]);
    await expect(
      client.readResource({ uri: `${uriOf(large.log_id)}` }).then(({ contents: [all] }) => all),
    ).resolves.toMatchObject({ text: JSON.stringify(rows) });
    const piece = await client.readResource({ uri: `${uriOf(large.log_id)}?offset=1&length=9` });
    expect(Buffer.from(String((piece.contents[0] as { blob: string }).blob), "base64").toString()).toBe(
      '{"id":0,"',
    );
  });

  test("beyond one message say how they are read", async () => {
    const { client, give } = await start();
    for (const text of ["x".repeat(7_000_000), '"'.repeat(2_500_000)]) {
      const { log_id } = await give(text);
      await expect(client.readResource({ uri: uriOf(log_id) })).rejects.toThrow(/offset=0&length=/);
    }
  });

  test("of others, and addresses of nothing, are not found", async () => {
    const { client, give, caller } = await start();
    const { log_id } = await give({ secret: 1 });
    const stranger = await caller("stranger");
    expect(await stranger("list_operations")).toMatchObject({ operations: [] });
    for (const uri of [uriOf(crypto.randomUUID()), uriOf("../x"), "file:///etc/passwd"])
      await expect(client.readResource({ uri })).rejects.toThrow(/no such resource/);
    expect((await client.readResource({ uri: uriOf(log_id) })).contents).toHaveLength(1);
  });
});
