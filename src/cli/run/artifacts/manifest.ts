/**
 * What a step has produced: a manifest of the files that its result names. Those of an Editor on this machine are looked at and
 * hashed; of another machine's it says what the Editor reported.
 */
import { existsSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
import { editorIdOf } from "../../../shared/editors/editor-id.js";
import { thisMachine } from "../../../shared/machine/this-machine.js";
import type { Answer } from "../../../shared/operation/answer.js";
import { printableJson } from "../../../shared/printable.js";
import type { BrokerClient } from "../../client/broker-client.js";
import type { ReportFile } from "../test-report/report-file.js";
import { createLocalFiles, isWithin, type LocalFiles } from "./local-files.js";
import { type ReportedFile, reportedFilesIn } from "./reported-files.js";

export interface Artifacts {
  /** The whole result is needed. */
  isWanted: boolean;
  /** For an answer with a whole outcome. Writes the manifest, if one is wanted; `signal` ends the reading of files. */
  report(answer: Answer, client: BrokerClient, signal: AbortSignal): Promise<ReportedArtifacts>;
}

export interface ReportedArtifacts {
  lines: string[];
  /** A manifest was wanted, and nothing was produced. */
  isMissing: boolean;
  isUnwritten: boolean;
}

export interface ArtifactsOptions {
  /** Undefined: none is wanted. */
  file: ReportFile | undefined;
  /** The Unity project's folder in the repository. */
  folder: string;
  limits?: ArtifactLimits;
}

export interface ArtifactLimits {
  files: number;
  /** That are hashed, of all files together. */
  bytes: number;
}

const LIMITS: ArtifactLimits = { files: 5_000, bytes: 64 * 1024 ** 3 };

/** In the log; the manifest has all. */
const MOST_SHOWN = 20;

interface Entry {
  path: string;
  state: "hashed" | "changed" | "too_large" | "missing" | "refused" | "reported";
  bytes?: number | undefined;
  sha256?: string;
  /** What the Editor reported, where the file has another size now. */
  reported_bytes?: number;
  role?: string | undefined;
}

export function createArtifacts({ file, folder, limits = LIMITS }: ArtifactsOptions): Artifacts {
  return {
    isWanted: file !== undefined,

    async report(answer, client, signal) {
      if (!file) return { lines: [], isMissing: false, isUnwritten: false };
      try {
        const { files, left, output } = reportedFilesIn(answer.result, limits.files);
        const project = files.length === 0 ? undefined : await projectOf(answer, client);
        const local = project?.isHere
          ? createLocalFiles({ project: project.path, output }, limits.bytes)
          : undefined;
        const entries: Entry[] = [];
        for (const each of files) {
          const named = { ...each, path: nameOf(each.path, project?.path, folder) };
          entries.push(
            local ? await lookedAt(each.path, named, local, signal) : { ...named, state: "reported" },
          );
        }
        file.write(`${printableJson(manifestOf(answer, entries, { left, isLocal: local !== undefined }))}\n`);
        const isProduced = entries.some(({ state }) => state !== "missing" && state !== "refused");
        return {
          lines: linesOf(entries, left, local !== undefined),
          isMissing: !isProduced,
          isUnwritten: false,
        };
      } catch (error) {
        const lines = [`The manifest of the artefacts was not written: ${(error as Error).message}`];
        return { lines, isMissing: false, isUnwritten: true };
      }
    },
  };
}

/** Another machine may have other files at the same path: the id says whether it is this one. */
async function projectOf(
  { editor }: Answer,
  client: BrokerClient,
): Promise<{ path: string; isHere: boolean } | undefined> {
  const { editors } = await client.call("list_editors");
  const found = (editors as { id: string; project_path?: string }[] | undefined)?.find(
    ({ id }) => id === editor,
  );
  const path = found?.project_path;
  if (path === undefined) return undefined;
  return { path, isHere: editorIdOf(basename(path), thisMachine(), path) === editor && existsSync(path) };
}

async function lookedAt(
  path: string,
  named: ReportedFile,
  files: LocalFiles,
  signal: AbortSignal,
): Promise<Entry> {
  const { bytes: reported, ...rest } = named;
  const found = await files.look(path, signal);
  if (found.state === "missing" || found.state === "refused") return { ...rest, bytes: reported, ...found };
  const isSame = reported === undefined || reported === found.bytes;
  if (isSame) return { ...rest, ...found };
  const state = found.state === "hashed" ? "changed" : found.state;
  return { ...rest, ...found, state, reported_bytes: reported };
}

/** Relative to the repository, or the project, where it is in there; else as the Editor wrote it. */
function nameOf(path: string, project: string | undefined, folder: string): string {
  if (project === undefined) return path;
  const absolute = resolve(project, path);
  if (!isWithin(project, absolute)) return path;
  const within = relative(project, absolute).replaceAll("\\", "/");
  const prefix = folder
    .replaceAll("\\", "/")
    .replace(/^(\.\/)+/, "")
    .replace(/\/+$/, "");
  return prefix === "" || prefix === "." ? within : `${prefix}/${within}`;
}

function manifestOf(
  { log_id, tool, editor, state, executed_at }: Answer,
  files: Entry[],
  { left, isLocal }: { left: number; isLocal: boolean },
): Record<string, unknown> {
  return {
    manifest: 1,
    log_id,
    tool,
    editor,
    state,
    executed_at,
    checked_here: isLocal,
    total_bytes: files.reduce((sum, { bytes = 0, state: each }) => sum + (each === "missing" ? 0 : bytes), 0),
    files,
    ...(left > 0 ? { left_out: left } : {}),
  };
}

function linesOf(files: Entry[], left: number, isLocal: boolean): string[] {
  if (files.length === 0) return ["No artefact was reported."];
  const odd = files.filter(({ state }) => state !== "hashed" && state !== "reported");
  const more = odd.length - MOST_SHOWN;
  return [
    `${files.length} artefacts, ${isLocal ? `${files.filter(({ sha256 }) => sha256 !== undefined).length} hashed here` : "as the Editor reported them"}`,
    ...odd.slice(0, MOST_SHOWN).map(({ path, state }) => `  ${SAID[state]}  ${path}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(left > 0 ? [`  ${left} more files are not in the manifest`] : []),
  ];
}

const SAID: Record<Entry["state"], string> = {
  hashed: "hashed",
  reported: "reported",
  changed: "has another size than the Editor reported:",
  too_large: "not hashed, too many bytes:",
  missing: "missing:",
  refused: "not read, it leads out of the project and output folder:",
};
