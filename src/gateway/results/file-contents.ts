/**
 * Small files that a tool puts into its result: `FileContents: [{Path, Bytes, Base64}]`, as build-player does. Answers have
 * their addresses instead of their bytes: programs read them there, from the stored result.
 */
import { z } from "zod";
import type { Preview } from "../../shared/results/preview.js";
import { artifactOf } from "./result-uri.js";

const Result = z.looseObject({ FileContents: z.array(z.unknown()).min(1) });
const File = z.looseObject({ Path: z.string().min(1), Base64: z.string() });

/** Whether a large result may be large because of such files, and so should be examined. */
export function mayHaveFiles(preview: Preview | undefined): boolean {
  return preview?.keys?.FileContents?.startsWith("array[") === true;
}

/** The result with addresses in place of the contents; undefined if it has none. */
export function withoutContents(result: unknown, logId: string): Record<string, unknown> | undefined {
  const read = Result.safeParse(result).data;
  if (!read) return undefined;
  const files = read.FileContents.map((entry) => {
    const file = File.safeParse(entry).data;
    if (!file) return entry;
    const { Base64: _, ...rest } = file;
    const uri = artifactOf(logId, file.Path);
    return uri === undefined ? rest : { ...rest, Uri: uri };
  });
  return { ...read, FileContents: files };
}

/** The content of the first file of this path; undefined if the result has none. */
export function contentAt(result: unknown, path: string): Buffer | undefined {
  const entries = Result.safeParse(result).data?.FileContents ?? [];
  const found = entries.map((entry) => File.safeParse(entry).data).find((file) => file?.Path === path);
  return found && Buffer.from(found.Base64, "base64");
}
