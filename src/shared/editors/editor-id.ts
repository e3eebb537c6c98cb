/** An Editor's id: `<slug>@<short hash of machine and place>`; the place is the real path of its project. */
import { createHash } from "node:crypto";

export function editorIdOf(name: string, machine: string, place: string): string {
  return `${slugOf(name)}@${createHash("sha256").update(`${machine}\n${place}`).digest("hex").slice(0, 8)}`;
}

/** The readable part of the id. */
export function slugOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "project"
  );
}
