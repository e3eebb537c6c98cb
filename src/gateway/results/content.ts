/**
 * Results that are MCP content themselves (`{"content": [{"type": "image", …}]}`): their blocks are passed on as blocks,
 * and binary ones are also offered as a resource, so that no answer carries more than a client can take.
 */
import { type ContentBlock, ContentBlockSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Preview } from "../../shared/results/preview.js";
import { estimatedTokens } from "../../shared/results/token-estimate.js";
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
  mimeType: string;
}

export function binaryOf(block: ContentBlock): Binary | undefined {
  if (block.type === "image" || block.type === "audio")
    return { base64: block.data, mimeType: block.mimeType };
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  const { blob, mimeType = "application/octet-stream" } = block.resource;
  return { base64: blob, mimeType };
}

/** The result in the form for the text, and the blocks that follow the text. */
export function handedOn(result: unknown, logId: string): { shown: unknown; blocks: ContentBlock[] } {
  const content = contentOf(result);
  if (content === undefined) return { shown: withoutContents(result, logId) ?? result, blocks: [] };
  let room = INLINE_CHARACTERS;
  const blocks = content.flatMap((block): ContentBlock[] => {
    const binary = binaryOf(block);
    if (!binary) return block.type === "text" ? [] : [block];
    const fits = binary.base64.length <= room;
    if (fits) room -= binary.base64.length;
    return fits ? [block] : [];
  });
  const first = content.map(binaryOf).find((binary) => binary !== undefined);
  const link = first && { ...resourceOf(logId), type: "resource_link" as const, mimeType: first.mimeType };
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

const bytesOf = ({ base64 }: Binary): number => Buffer.byteLength(base64, "base64");
