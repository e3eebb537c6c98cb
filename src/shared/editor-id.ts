/** Names an Editor: `<slug>@<short hash of machine and place>`; its place is the real path of its project. */
import { createHash } from "node:crypto";

export function editorIdOf(name: string, machine: string, place: string): string {
  const slug =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "project";
  return `${slug}@${createHash("sha256").update(`${machine}\n${place}`).digest("hex").slice(0, 8)}`;
}
