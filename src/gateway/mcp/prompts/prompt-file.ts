/** The file of a team's prompt, in the protocol's own form. */
import { z } from "zod";
import { pictureType } from "../../results/content.js";
import type { OfferedPrompt } from "./filled-prompt.js";

/** Clients show the name as a command, so it has no spaces; a place in a text has the same letters. */
const NAME = /^[\w-][\w.-]{0,63}$/;
const MOST_ARGUMENTS = 32;
const MOST_MESSAGES = 100;

const Annotations = z.strictObject({
  audience: z.array(z.enum(["user", "assistant"])).optional(),
  priority: z.number().min(0).max(1).optional(),
  lastModified: z.string().optional(),
});
const annotations = Annotations.optional();
const data = z.base64().min(1);
const mimeType = z.string().min(1);
const uri = z.string().min(1);

const Resource = z
  .strictObject({ uri, mimeType: mimeType.optional(), text: z.string().optional(), blob: data.optional() })
  .refine(({ text, blob }) => (text === undefined) !== (blob === undefined), {
    error: "it has either text or blob",
  });

const Content = z.discriminatedUnion(
  "type",
  [
    z.strictObject({ type: z.literal("text"), text: z.string(), annotations }),
    z
      .strictObject({ type: z.literal("image"), data, mimeType, annotations })
      .refine((image) => pictureType(image.data) === image.mimeType, {
        error:
          "its mimeType is image/png, image/jpeg, image/gif or image/webp, and its data is such a picture",
      }),
    z.strictObject({ type: z.literal("audio"), data, mimeType, annotations }),
    z.strictObject({ type: z.literal("resource"), resource: Resource, annotations }),
  ],
  { error: "its type is text, image, audio or resource" },
);

const Argument = z.strictObject({
  name: z.string().regex(NAME, { error: "it has letters, digits, _, - and . only, and at most 64" }),
  title: z.string().max(200).optional(),
  description: z.string().max(2_000).optional(),
  required: z.boolean().optional(),
});

const PromptFile = z.strictObject({
  title: z.string().max(200).optional(),
  description: z.string().max(2_000).optional(),
  arguments: z
    .array(Argument)
    .max(MOST_ARGUMENTS)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
      error: "two have the same name",
    })
    .optional(),
  messages: z
    .array(z.strictObject({ role: z.enum(["user", "assistant"]), content: Content }))
    .min(1)
    .max(MOST_MESSAGES),
});

export function isPromptName(name: string): boolean {
  return NAME.test(name);
}

/** The prompt, or what is wrong with the text. */
export function readPrompt(name: string, text: string): OfferedPrompt | string {
  let json: unknown;
  try {
    // Editors on Windows may begin a file with this mark.
    json = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return `it is not JSON (${(error as Error).message})`;
  }
  const read = PromptFile.safeParse(json);
  if (read.success) return { name, ...read.data, absent: "" } as OfferedPrompt;
  const [issue] = read.error.issues;
  const path = z.core.toDotPath(issue?.path ?? []);
  return path === "" ? `${issue?.message}` : `${path}: ${issue?.message}`;
}
