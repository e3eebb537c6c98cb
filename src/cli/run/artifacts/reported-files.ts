/** The files that a tool's result names: `Files` of build-player, and of any tool that reports files in the same form. */

export interface ReportedFile {
  /** As the Editor wrote it: absolute, or relative to its project. */
  path: string;
  bytes?: number | undefined;
  role?: string | undefined;
}

export interface ReportedFiles {
  files: ReportedFile[];
  /** Files that there are beside those that are named. */
  left: number;
  /** Where they were written to. */
  output: string | undefined;
}

/** Of a whole result; no more than `most` files. */
export function reportedFilesIn(result: unknown, most: number): ReportedFiles {
  const { Files, TotalFiles, OutputPath } = (result ?? {}) as Record<string, unknown>;
  const named = (Array.isArray(Files) ? Files : []).flatMap((entry: Record<string, unknown> | null) => {
    if (typeof entry?.Path !== "string" || entry.Path === "") return [];
    const { Path: path, Bytes, Role } = entry;
    return {
      path,
      ...(typeof Bytes === "number" ? { bytes: Bytes } : {}),
      ...(typeof Role === "string" ? { role: Role } : {}),
    };
  });
  const total = typeof TotalFiles === "number" ? Math.max(TotalFiles, named.length) : named.length;
  const files = named.slice(0, most);
  return {
    files,
    left: total - files.length,
    output: typeof OutputPath === "string" ? OutputPath : undefined,
  };
}
