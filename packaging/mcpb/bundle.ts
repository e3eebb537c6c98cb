/**
 * Builds the .mcpb bundle, which Claude Desktop and others install by a double click: the built broker with all that it
 * needs, so that nothing is taken from a registry when it starts (docs/guide/clients.md).
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { packExtension } from "@anthropic-ai/mcpb";
import { BROKER_TOOLS } from "../../src/gateway/mcp/tools/broker-tools.js";
import { WAITS } from "../../src/shared/wait-time.js";
import { productionPackages } from "../production-packages.js";

const HERE = import.meta.dirname;
const PROJECT = resolve(HERE, "../..");

/** Writes the bundle of what `dist` has now. Rejects if the manifest is not valid. */
export async function buildBundle(output: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "unity-job-broker-mcpb-"));
  try {
    for (const name of ["dist", "package.json", "LICENSE"])
      cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
    cpSync(join(HERE, ".mcpbignore"), join(folder, ".mcpbignore"));
    writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest(), undefined, 2));
    // Optional ones are built for one system, and the bundle is for all.
    for (const { path, isOptional } of productionPackages(PROJECT)) {
      if (isOptional) continue;
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(PROJECT, path), join(folder, path), { recursive: true, verbatimSymlinks: true });
    }
    const isPacked = await packExtension({ extensionPath: folder, outputPath: output, silent: true });
    if (!isPacked)
      throw new Error(`${output} was not written: npx mcpb validate packaging/mcpb/manifest.json says why`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the broker's own tools; those of an Editor are known when it is connected (`tools_generated`). */
function manifest(): Record<string, unknown> {
  const tools = [...BROKER_TOOLS.values()].map(({ name, described }) => ({
    name,
    description: described(WAITS).description,
  }));
  return { ...JSON.parse(readFileSync(join(HERE, "manifest.json"), "utf8")), tools };
}
