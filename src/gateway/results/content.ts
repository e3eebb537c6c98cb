/**
 * Results that are MCP content themselves (`{"content": [{"type": "image", …}]}`): their blocks are passed on as blocks,
 * and binary ones are also offered as a resource, so that no answer carries more than a client can take.
 */
import { type ContentBlock, ContentBlockSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Preview } from "../../shared/results/preview.js";
import { estimatedTokens } from "../../shared/results/token-estimate.js";
import { head } from "../../shared/shortened-text.js";
import { withoutContents } from "./file-contents.js";
import { resourceOf } from "./result-uri.js";

const Content = z.looseObject({ content: z.array(ContentBlockSchema).min(1) });

/** Most base64 characters in the blocks of one answer; a block that does not fit is only linked. */
const INLINE_CHARACTERS = 1024 * 1024;

/** The blocks of a result that is MCP content; undefined if it is an ordinary value. */
export function contentOf(result: unknown): ContentBlock[] | undefined {
  return Content.safeParse(result).data?.content;
}

/** Whether a large result may be content that is large because of its pictures, and so should be examined. */
export function mayBeContent(preview: Preview | undefined): boolean {
  return preview?.keys?.content?.startsWith("array[") === true;
}

/** The tokens of the blocks' text, which a model reads. */
export function textTokens(blocks: readonly ContentBlock[]): number {
  return blocks.reduce(
    (sum, block) => sum + (binaryOf(block) ? 0 : estimatedTokens(JSON.stringify(block))),
    0,
  );
}

export interface Binary {
  base64: string;
  /** Of a picture: by its bytes; application/octet-stream if it is none that models see. */
  mimeType: string;
}

export function binaryOf(block: ContentBlock): Binary | undefined {
  if (block.type === "image") return { base64: block.data, mimeType: pictureType(block.data) ?? OCTETS };
  if (block.type === "audio") return { base64: block.data, mimeType: block.mimeType };
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  const { blob, mimeType = OCTETS } = block.resource;
  return { base64: blob, mimeType: mimeType.startsWith("image/") ? (pictureType(blob) ?? OCTETS) : mimeType };
}

const OCTETS = "application/octet-stream";

/** The pictures that models see, by the hexadecimal form of their first bytes. Their APIs refuse a request with any other. */
const PICTURES: [mimeType: string, beginning: RegExp][] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
];

/** The type of a picture that models see, whatever it is called; undefined if it is none. */
function pictureType(base64: string): string | undefined {
  const beginning = Buffer.from(base64.slice(0, 24), "base64").toString("hex");
  return PICTURES.find(([, ofType]) => ofType.test(beginning))?.[0];
}

/** The result in the form for the text, and the blocks that follow the text. */
export function handedOn(result: unknown, logId: string): { shown: unknown; blocks: ContentBlock[] } {
  const content = contentOf(result);
  if (content === undefined) return { shown: withoutContents(result, logId) ?? result, blocks: [] };
  const first = content.map(binaryOf).find((binary) => binary !== undefined);
  const link = first && { ...resourceOf(logId), type: "resource_link" as const, mimeType: first.mimeType };
  let room = INLINE_CHARACTERS;
  const blocks = content.flatMap((block): ContentBlock[] => {
    const binary = binaryOf(block);
    if (!binary) return block.type === "text" ? [] : [block];
    const { base64, mimeType } = binary;
    if (block.type === "image" && mimeType === OCTETS) return [unseen(block.mimeType, binary, link?.uri)];
    if (base64.length > room) return [];
    room -= base64.length;
    if (block.type === "resource") return [{ ...block, resource: { ...block.resource, mimeType } }];
    return [block.type === "image" ? { ...block, mimeType } : block];
  });
  const described = content.map((block) => {
    const binary = binaryOf(block);
    return binary
      ? { type: block.type, mimeType: binary.mimeType, bytes: bytesOf(binary), uri: link?.uri }
      : block;
  });
  return {
    shown: { ...(result as Record<string, unknown>), content: described },
    blocks: link ? [...blocks, link] : blocks,
  };
}

function unseen(named: string, binary: Binary, uri: string | undefined): ContentBlock {
  const what = `A picture is not shown: ${head(named, 100)}, ${bytesOf(binary)} bytes.`;
  const text = `${what} Models see PNG, JPEG, GIF and WebP. Read its bytes as the resource ${uri}.`;
  return { type: "text", text };
}

const bytesOf = ({ base64 }: Binary): number => Buffer.byteLength(base64, "base64");
