/** A team's own prompts: which files are prompts, what is said of the others, and what stands where an argument was. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetPromptResultSchema, ListPromptsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createPrompts, type Prompts } from "../../../src/gateway/mcp/prompts/prompts.js";
import { eventually } from "../../harness/eventually.js";
import { picture } from "../../harness/pictures.js";

let folder: string;
let said: string[];
let prompts: Prompts;
const log = { warn: (_values: object, message: string) => void said.push(message) };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-prompts-"));
  said = [];
  prompts = createPrompts(log, { folder });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (file: string, content: unknown): void =>
  writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
const message = (text: string) => ({ role: "user", content: { type: "text", text } });
const saying = (text: string, ...names: string[]) => ({
  arguments: names.map((name) => ({ name })),
  messages: [message(text)],
});
const own = async () => (await prompts.list()).slice(3);
const filled = async (name: string, given?: Record<string, string>) =>
  (await prompts.get(name, given)).messages.map(({ content }) =>
    content.type === "text" ? content.text : content,
  );

test("a file is a prompt in the protocol's form, after the broker's own, by name", async () => {
  const listed = {
    title: "Review a scene",
    description: "Looks for what is slow.",
    arguments: [{ name: "scene", title: "Scene", description: "Its path.", required: true }],
  };
  const png = { type: "image", data: picture("image/png"), mimeType: "image/png" };
  const wav = { type: "audio", data: "UklGRg==", mimeType: "audio/wav", annotations: { priority: 0.5 } };
  const blob = { type: "resource", resource: { uri: "asset://{scene}", blob: "AAAA" } };
  const notes = {
    type: "resource",
    resource: { uri: "notes://{scene}", mimeType: "text/plain", text: "Of {scene}." },
  };
  write("review.json", {
    ...listed,
    messages: [
      ...[png, wav, blob, notes].map((content) => ({ role: "user", content })),
      { role: "assistant", content: { type: "text", text: "I look at {scene}." } },
    ],
  });
  write("bake.json", `\uFEFF${JSON.stringify(saying("Bake."))}`);
  const all = await prompts.list();
  // Its parser leaves out the titles of arguments.
  expect({ prompts: all }).toMatchObject(ListPromptsResultSchema.parse({ prompts: all }));
  expect(all.map(({ name }) => name)).toEqual([
    ...["start_and_wait", "after_a_timeout", "run_again"],
    ...["bake", "review"],
  ]);
  expect(all.at(-1)).toEqual({ name: "review", ...listed });
  const got = await prompts.get("review", { scene: "A" });
  expect(GetPromptResultSchema.parse(got)).toEqual(got);
  expect(got.description).toBe(listed.description);
  expect(got.messages.map(({ content }) => content)).toEqual([
    png,
    wav,
    { type: "resource", resource: { uri: "asset://A", blob: "AAAA" } },
    { type: "resource", resource: { uri: "notes://A", mimeType: "text/plain", text: "Of A." } },
    { type: "text", text: "I look at A." },
  ]);
  expect(got.messages.at(-1)?.role).toBe("assistant");
  expect(said).toEqual([]);
});

test.each([
  ["{a} and {b-2.x}", "1 and 2"],
  ["what is not declared stays: {c} { a } {} {{c}}", "what is not declared stays: {c} { a } {} {{c}}"],
  ["doubled braces are the text itself: {{a}}, {{{a}}}", "doubled braces are the text itself: {a}, {{a}}"],
  ['{"x":{a}}', '{"x":1}'],
  ["{{a} and {a}}", "{1 and 1}"],
])("%s", async (text, expected) => {
  write("p.json", saying(text, "a", "b-2.x"));
  expect(await filled("p", { a: "1", "b-2.x": "2", c: "not declared" })).toEqual([expected]);
});

test("what an argument says is no template; one that is not given is empty, whatever it is called", async () => {
  write("p.json", saying("[{a}] [{b}] [{constructor}]", "a", "b", "constructor"));
  expect(await filled("p", { a: "{b}", b: "$& {{a}}" })).toEqual(["[{b}] [$& {{a}}] []"]);
  expect(await filled("p")).toEqual(["[] [] []"]);
});

test("an argument that is needed must be given, and not be empty", async () => {
  const needed = ["a", "constructor"].map((name) => ({ name, required: true }));
  write("p.json", { ...saying("{a}"), arguments: [...needed, { name: "c" }] });
  const refused = {
    code: "INVALID_ARGUMENTS",
    message: expect.stringContaining("The prompt p needs a, constructor."),
  };
  await expect(prompts.get("p", { a: "" })).rejects.toMatchObject(refused);
  await expect(prompts.get("p", { a: "1", constructor: "2" })).resolves.toBeDefined();
});

test("arguments may not grow a prompt without end", async () => {
  write("p.json", saying("{a}".repeat(50), "a"));
  await expect(prompts.get("p", { a: "x".repeat(100_000) })).rejects.toMatchObject({
    code: "INVALID_ARGUMENTS",
  });
  expect(await filled("p", { a: "x".repeat(1_000) })).toEqual(["x".repeat(50_000)]);
});

test.each<[string, unknown, string]>([
  ["a.json", "{", "it is not JSON"],
  ["a.json", "[]", "expected object"],
  ["a.json", { ...saying(""), argument: [] }, 'Unrecognized key: "argument"'],
  ["a.json", { messages: [] }, "messages: "],
  ["a.json", { messages: [{ role: "system", content: { type: "text", text: "" } }] }, "messages[0].role: "],
  ["a.json", { messages: [{ role: "user", content: "text" }] }, "messages[0].content: its type is text,"],
  [
    "a.json",
    { messages: [{ role: "user", content: { type: "video" } }] },
    "its type is text, image, audio or",
  ],
  ["a.json", { messages: [{ role: "user", content: { type: "text" } }] }, "messages[0].content.text: "],
  [
    "a.json",
    { messages: [{ role: "user", content: { type: "image", data: "no base64!", mimeType: "image/png" } }] },
    "messages[0].content.data: ",
  ],
  ...[
    { type: "image", data: picture("image/jpeg"), mimeType: "image/jpg" },
    { type: "image", data: picture("image/jpeg"), mimeType: "image/png" },
    { type: "image", data: "PHN2Zy8+", mimeType: "image/svg+xml" },
  ].map((content): [string, unknown, string] => [
    "a.json",
    { messages: [{ role: "user", content }] },
    "messages[0].content: its mimeType is image/png, image/jpeg, image/gif or image/webp, and its data is such",
  ]),
  [
    "a.json",
    { messages: [{ role: "user", content: { type: "resource", resource: { uri: "a://b" } } }] },
    "messages[0].content.resource: it has either text or blob",
  ],
  ["a.json", saying("", "a", "a"), "arguments: two have the same name"],
  ["a.json", saying("", "a b"), "arguments[0].name: it has letters"],
  ["a.json", saying("x".repeat(1024 * 1024)), "it has more than 1 MiB"],
  ["a b.json", saying(""), "its name has other characters than"],
  ["run_again.json", saying(""), "run_again is a prompt of the broker's own; give it another name"],
])("%s is skipped and said once, others count: %#", async (file, content, fault) => {
  write(file, content);
  write("good.json", saying("Good."));
  expect((await own()).map(({ name }) => name)).toEqual(["good"]);
  expect(await own()).toHaveLength(1);
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(`The prompt file ${file} is skipped: `);
  expect(said[0]).toContain(fault);
});

test("folders, other files and those of editors are no prompts; a name from outside opens nothing", async () => {
  mkdirSync(join(folder, "folder.json"));
  mkdirSync(join(folder, "in"));
  write("in/inner.json", saying("Inner."));
  write(".draft.json", saying("Draft."));
  write("README.md", "Our prompts.");
  expect(await own()).toEqual([]);
  for (const name of ["in/inner", ".draft", "../x", "folder"])
    await expect(prompts.get(name)).rejects.toThrow("There is no prompt");
  expect(said).toEqual(["The prompt file folder.json is skipped: it is not a file."]);
});

test("an edited, new or removed file counts at the next request; a fault is said again only when it is another", async () => {
  write("p.json", saying("one"));
  expect(await filled("p")).toEqual(["one"]);
  // The same number of bytes, and often within one tick of the file's times.
  for (let at = 100; at < 300; at += 1) {
    write("p.json", saying(`${at}`));
    expect(await filled("p")).toEqual([`${at}`]);
  }
  write("p.json", "{");
  expect(await own()).toEqual([]);
  write("q.json", "{}");
  await expect(prompts.get("p")).rejects.toThrow("There is no prompt");
  expect(said.map((line) => /file (\S+) is skipped/.exec(line)?.[1])).toEqual(["p.json", "q.json"]);
  write("p.json", saying("three"));
  rmSync(join(folder, "q.json"));
  expect(await filled("p")).toEqual(["three"]);
  expect((await own()).map(({ name }) => name)).toEqual(["p"]);
  expect(said).toHaveLength(2);
});

test("what is faulty is said before a client asks", async () => {
  write("p.json", "{");
  createPrompts(log, { folder });
  await eventually(() => said.length > 0, "the fault is said");
});

test("a folder that is away is said once, and counts when it comes", async () => {
  const later = join(folder, "later");
  prompts = createPrompts(log, { folder: later });
  expect(await own()).toEqual([]);
  expect(await own()).toEqual([]);
  expect(said).toEqual(["The prompts' folder does not exist; there are the broker's own prompts only."]);
  mkdirSync(later);
  write("later/p.json", saying("Later."));
  expect(await filled("p")).toEqual(["Later."]);
});

test("a hundred files are the most; an error names some", async () => {
  for (let at = 0; at < 101; at += 1) write(`p${String(at).padStart(3, "0")}.json`, saying(`${at}`));
  expect(await own()).toHaveLength(100);
  expect(await filled("p099")).toEqual(["99"]);
  await expect(prompts.get("p100")).rejects.toThrow(/run_again, p000, .*p016, …\./);
  expect(said).toEqual([
    "The prompts' folder has more than 100 files; p100.json and what comes after it by name are skipped.",
  ]);
});
