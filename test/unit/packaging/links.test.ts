/** The links that install the broker in an editor: what they carry is what `install` writes. */
import { describe, expect, test } from "vitest";
import { clientNamed } from "../../../src/cli/clients/client-table.js";
import { type Entry, entryOf, startCommand } from "../../../src/cli/clients/entry.js";
import { install as declared } from "../../../src/cli/declared/clients.js";
import { textOf } from "../../harness/packaging/files.js";

const FILES = ["README.md", "docs/guide/clients.md"];
const NAME = declared.args.name.default;

/** By name, as a package that is installed globally has it: a link does not know where. */
const expected = (client: string): Entry => ({
  ...entryOf(clientNamed(client), startCommand("/", "/usr/bin/unity-broker")),
  command: "unity-broker",
});

/** The address of the link that begins so; a file has one of it. */
function link(file: string, beginning: string): URL {
  const links = [...textOf(file).matchAll(/\]\((https:[^)\s]+)\)/g)].map(([, address = ""]) => address);
  const found = links.filter((address) => address.startsWith(beginning));
  expect(found, `${file}: ${beginning}`).toHaveLength(1);
  return new URL(found[0] ?? "");
}

describe.each(FILES)("%s", (file) => {
  test("VS Code's link carries the entry of VS Code", () => {
    const inner = link(file, "https://insiders.vscode.dev/redirect?").searchParams.get("url") ?? "";
    const [handler, config = ""] = inner.split("?");
    expect(handler).toBe("vscode:mcp/install");
    expect(JSON.parse(decodeURIComponent(config))).toEqual({ name: NAME, ...expected("vscode") });
  });

  test("Cursor's link carries the entry of Cursor", () => {
    const { searchParams } = link(file, "https://cursor.com/en/install-mcp?");
    expect(searchParams.get("name")).toBe(NAME);
    const config = Buffer.from(searchParams.get("config") ?? "", "base64").toString();
    expect(JSON.parse(config)).toEqual(expected("cursor"));
  });

  test("neither names a package, which would be taken from a registry", () => {
    for (const client of ["vscode", "cursor"])
      expect(JSON.stringify(expected(client))).not.toMatch(/npx|"unity-job-broker"/);
  });
});
