/** Small files that a tool puts into its result: addresses in answers, contents as resources. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, test } from "vitest";
import { useGiving } from "../../harness/system/giving.js";

const give = useGiving();

const uriOf = (id: string, path: string): string => `unity-broker://results/${id}/artifacts/${path}`;
const file = (Path: string, content: Buffer | string) => {
  const bytes = Buffer.from(content);
  return { Path, Bytes: bytes.length, Base64: bytes.toString("base64") };
};
const NOISE = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * at + 7) % 251));

const isMissing = (client: Client, uri: string) =>
  expect(client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32002 });

test("an answer has their addresses, a resource their contents, also of a result that is large by them", async () => {
  const { client, give: gives, runs } = await give();
  const result = {
    Success: true,
    FileContents: [
      file("Data/ü 1?.txt", "text"),
      file("report.json", '{"a":1}'),
      file("icon.png", NOISE),
      file("text with a zero", "\0"),
      { Path: "too large" },
      file("half a pair \ud800", "text"),
    ],
  };
  const { log_id: id, ...answer } = await gives(result);
  const paths = ["Data/%C3%BC%201%3F.txt", "report.json", "icon.png", "text%20with%20a%20zero"];
  const [text = "", json = "", icon = "", zero = "", half = ""] = [
    ...paths,
    "half%20a%20pair%20%EF%BF%BD",
  ].map((path) => uriOf(id, path));
  expect(answer).not.toHaveProperty("cached");
  expect(answer.result).toEqual({
    Success: true,
    FileContents: [
      { Path: "Data/ü 1?.txt", Bytes: 4, Uri: text },
      { Path: "report.json", Bytes: 7, Uri: json },
      { Path: "icon.png", Bytes: 200_000, Uri: icon },
      { Path: "text with a zero", Bytes: 1, Uri: zero },
      { Path: "too large" },
      { Path: "half a pair \ufffd", Bytes: 4, Uri: half },
    ],
  });
  const read = async (uri: string) => (await client.readResource({ uri })).contents;
  expect(await read(text)).toEqual([{ uri: text, mimeType: "text/plain", text: "text" }]);
  expect(await read(half)).toEqual([{ uri: half, mimeType: "text/plain", text: "text" }]);
  expect(await read(json)).toEqual([{ uri: json, mimeType: "application/json", text: '{"a":1}' }]);
  const binary = { mimeType: "application/octet-stream" };
  expect(await read(icon)).toEqual([{ uri: icon, ...binary, blob: NOISE.toString("base64") }]);
  expect(await read(zero)).toEqual([{ uri: zero, ...binary, blob: "AA==" }]);
  for (const path of ["too%20large", "none", "Data", "../report.json", "%", "report.json?offset=0", ""])
    await isMissing(client, uriOf(id, path));
  await isMissing(client, uriOf("0b5fd0b4-6f53-4f0e-9a3e-7d5e3c1a2b3c", "report.json"));
  await isMissing(client, uriOf("no-id", "report.json"));
  expect(runs()).toBe(1);
});
