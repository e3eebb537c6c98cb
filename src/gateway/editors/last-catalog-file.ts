/**
 * The file of one Editor's last known catalogue. Whatever it says goes through the limits of a catalogue from an Editor,
 * and effects are decided again: the file makes no tool repeatable that the broker would not.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { excessOf } from "../../shared/results/json-count.js";
import type { AwayEditor } from "../../shared/store/editors/editors.js";
import { describedAs } from "../../shared/tools/tool.js";
import { readTools, type ToolLimits } from "../../shared/tools/tool-limits.js";
import { PlainBridge } from "../../shared/wire/wire.js";

/** As long as in an Editor's hello. */
const Name = z.string().min(1).max(1_000);
const Path = z.string().max(32_767);

const LastCatalog = z.object({
  profile: z.object({
    editorId: Name,
    projectName: Name,
    projectPath: Path,
    unityVersion: z.string().max(1_000),
    pid: z.number(),
    process: z.object({ machine: Name, pid: z.number(), mark: z.string().max(1_000).optional() }).optional(),
    plain: z.literal(true).optional(),
    bridge: PlainBridge.optional().catch(undefined),
    labels: z.array(z.string().max(1_000)).max(1_000).optional(),
    editorSessionId: z.string().max(1_000),
    generation: z.number(),
    assetCounter: z.number(),
  }),
  /** ms since the epoch, store clock. */
  lastSeenAt: z.number(),
  ended: z.object({ editorSessionId: z.string().max(1_000), at: z.number() }).optional(),
  /** Each is validated separately (tool-limits.ts). */
  tools: z.array(z.unknown()),
});

/** Many times the values of a catalogue within its limits; as many as in a frame of an Editor. */
const MOST_VALUES = 1_000_000;

/** An id may hold anything, and be longer than a file's name. */
export function fileNameOf(editorId: string): string {
  return `${createHash("sha256").update(editorId).digest("hex").slice(0, 32)}.json`;
}

export function isFileName(name: string): boolean {
  return /^[0-9a-f]{32}\.json$/.test(name);
}

export function textOf({ tools, ...editor }: AwayEditor): string {
  return JSON.stringify({ ...editor, tools: tools.map(describedAs) });
}

/** Throws the reason if the file is of no use. */
export function parseCatalog(name: string, text: Buffer, limits: ToolLimits): AwayEditor {
  if (excessOf(text, MOST_VALUES)) throw new Error(`more than ${MOST_VALUES} JSON values`);
  const { profile, ended, lastSeenAt, tools } = LastCatalog.parse(JSON.parse(text.toString("utf8")));
  const { process, plain, bridge, labels, ...known } = profile;
  if (fileNameOf(known.editorId) !== name) throw new Error("it is the file of another Editor");
  const read = readTools(tools, limits);
  if (read.tools.length === 0) throw new Error(read.reasons[0] ?? "no tools");
  return {
    profile: {
      ...known,
      ...(process ? { process } : {}),
      ...(labels ? { labels } : {}),
      ...(plain ? { plain } : {}),
      ...(bridge ? { bridge } : {}),
    },
    lastSeenAt,
    ...(ended ? { ended } : {}),
    tools: read.tools,
  };
}

/** A catalogue is written again after this long even if only the time is new, ms. */
const TIME_COUNTS_MS = 60_000;

/** Whether the text says the same: a reload, or an imported asset, is no reason to write the file. */
export function saysTheSame(before: string, after: string): boolean {
  const [one, other] = [comparable(before), comparable(after)];
  if (!one || !other) return false;
  return isDeepStrictEqual(one.lasting, other.lasting) && other.lastSeenAt - one.lastSeenAt < TIME_COUNTS_MS;
}

function comparable(text: string): { lasting: unknown; lastSeenAt: number } | undefined {
  try {
    const { lastSeenAt, profile, ...others } = LastCatalog.parse(JSON.parse(text));
    const { generation: _, assetCounter: __, ...lasting } = profile;
    return { lasting: { ...others, profile: lasting }, lastSeenAt };
  } catch {
    return undefined;
  }
}
