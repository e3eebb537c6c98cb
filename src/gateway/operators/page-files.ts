/** The files of the operators' page (src/page), as built: read once, since they are few and small. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { packageFile } from "../../shared/package-file.js";

export interface PageFile {
  type: string;
  body: Buffer;
}

export interface PageFiles {
  /** Names the content of all files: another build has another one, so that a browser may keep these for ever. */
  digest: string;
  /** By its path, such as views/editors.js. */
  find(path: string): PageFile | undefined;
}

/** A browser reads no TypeScript: also from source, in tests and in `npm run dev`, the built page is served. */
const FOLDER = packageFile("dist/page");

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".svg": "image/svg+xml",
};

export function readPageFiles(folder = FOLDER): PageFiles {
  const files = new Map<string, PageFile>();
  const hash = createHash("sha256");
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const body = readFileSync(join(folder, name));
    hash.update(name).update(body);
    files.set(name.replaceAll("\\", "/"), { type, body });
  }
  return { digest: hash.digest("hex").slice(0, 16), find: (path) => files.get(path) };
}
