/** The file of a report: there as a whole or not at all, and never one of an earlier run. */
import { accessSync, constants, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../../command.js";

export interface ReportFile {
  write(text: string): void;
}

/** Makes its folder and removes what an earlier run left. Throws a UsageError where nothing can be written. */
export function openReportFile(option: string, path: string): ReportFile {
  try {
    mkdirSync(dirname(path), { recursive: true });
    accessSync(dirname(path), constants.W_OK);
    rmSync(path, { force: true });
  } catch (error) {
    throw new UsageError(`${option} ${path} cannot be written: ${(error as Error).message}`);
  }
  return {
    write(text) {
      const beside = `${path}.${process.pid}.tmp`;
      try {
        writeFileSync(beside, text);
        renameSync(beside, path);
      } finally {
        rmSync(beside, { force: true });
      }
    },
  };
}
