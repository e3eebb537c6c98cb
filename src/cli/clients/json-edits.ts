/**
 * Edits single properties of JSON, with or without comments.
 *
 * jsonc-parser's own `modify` puts a new property between the last one and that one's comment, and formats the lines
 * around; here the comment stays with its owner and no other byte changes, so that a removal undoes an insertion.
 */
import {
  applyEdits,
  createScanner,
  type Edit,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
  type SyntaxKind,
} from "jsonc-parser";
import type { ConfigText } from "./config-text.js";

const LENIENT = { allowTrailingComma: true, allowEmptyContent: true };
// The library's enum is ambient: it has no value at run time.
const COMMA: SyntaxKind.CommaToken = 5;

export const jsonText: ConfigText = {
  read(text) {
    const errors: ParseError[] = [];
    const data: unknown = parse(text, errors, LENIENT);
    const [error] = errors;
    if (error !== undefined) {
      throw new Error(`line ${lineAt(text, error.offset)}: ${printParseErrorCode(error.error)}`);
    }
    if (data === undefined) return {};
    if (typeof data !== "object" || data === null || Array.isArray(data)) {
      throw new Error("line 1: expected an object, { … }");
    }
    return data as Record<string, unknown>;
  },

  set(text, path, value) {
    const root = parseTree(text, [], LENIENT);
    if (root === undefined) return text + jsonText.fragment(path, value).replaceAll("\n", eolOf(text));
    const there = findNodeAtLocation(root, [...path]);
    if (there !== undefined) return applyEdits(text, [replacement(text, there, value)]);
    const known = path.findLastIndex(
      (_, depth) => findNodeAtLocation(root, path.slice(0, depth)) !== undefined,
    );
    const table = findNodeAtLocation(root, path.slice(0, known));
    if (table?.type !== "object") {
      throw new Error(`line ${lineAt(text, table?.offset ?? 0)}: ${path[known - 1]} is not an object, { … }`);
    }
    const [key = "", ...inner] = path.slice(known);
    const nested = inner.reduceRight<unknown>((within, name) => ({ [name]: within }), value);
    return applyEdits(text, insertion(text, table, key, nested));
  },

  remove(text, path) {
    const root = parseTree(text, [], LENIENT);
    const property = root && findNodeAtLocation(root, [...path])?.parent;
    const table = property?.parent;
    return table === undefined ? text : applyEdits(text, removal(text, table, property as Node));
  },

  fragment(path, value) {
    const nested = path.reduceRight<unknown>((within, name) => ({ [name]: within }), value);
    return `${JSON.stringify(nested, null, 2)}\n`;
  },
};

function insertion(text: string, table: Node, key: string, value: unknown): Edit[] {
  const children = table.children ?? [];
  const first = children[0];
  const last = children.at(-1);
  const eol = eolOf(text);
  if (first === undefined || last === undefined) {
    const outer = indentAt(text, table.offset);
    const inner = outer + unitOf(text);
    // Existing comments stay above.
    const from = text.slice(0, endOf(table) - 1).trimEnd().length;
    const row = `${eol}${inner}${JSON.stringify(key)}: ${spread(value, inner, text)}${eol}${outer}`;
    return [{ offset: from, length: endOf(table) - 1 - from, content: row }];
  }
  const comma = commaAfter(text, endOf(last));
  const end = comma === undefined ? endOf(last) : comma + 1;
  const separator: Edit[] = comma === undefined ? [{ offset: endOf(last), length: 0, content: "," }] : [];
  const closing = comma === undefined ? "" : ",";
  if (!text.slice(table.offset, first.offset).includes("\n")) {
    const content = ` ${JSON.stringify(key)}: ${JSON.stringify(value)}${closing}`;
    return together([...separator, { offset: end, length: 0, content }]);
  }
  const indent = indentAt(text, first.offset);
  const content = `${eol}${indent}${JSON.stringify(key)}: ${spread(value, indent, text)}${closing}`;
  return together([...separator, { offset: afterComment(text, end), length: 0, content }]);
}

function removal(text: string, table: Node, property: Node): Edit[] {
  const children = table.children ?? [];
  const index = children.indexOf(property);
  const comma = commaAfter(text, endOf(property));
  const start = text.slice(0, property.offset).trimEnd().length;
  const end = comma === undefined ? endOf(property) : comma + 1;
  if (children.length === 1) {
    const around = text.slice(table.offset + 1, start) + text.slice(end, endOf(table) - 1);
    if (around.trim() === "") return [{ offset: table.offset + 1, length: table.length - 2, content: "" }];
  }
  const gap = text.slice(start, property.offset);
  // Something follows on the same line: it must not end up behind a line comment.
  const isFollowed = !/^[ \t]*(\r?\n|$)/.test(text.slice(end));
  const cut: Edit = {
    offset: start,
    length: end - start,
    content: isFollowed && gap.includes("\n") ? gap : "",
  };
  const before =
    index > 0 && comma === undefined ? commaAfter(text, endOf(children[index - 1] as Node)) : undefined;
  return before === undefined ? [cut] : together([{ offset: before, length: 1, content: "" }, cut]);
}

/** A new value in place of the old one, on one line if that was. */
function replacement(text: string, node: Node, value: unknown): Edit {
  const old = text.slice(node.offset, endOf(node));
  const isFlat = !old.includes("\n") && (Array.isArray(value) || typeof value !== "object");
  const content = isFlat ? flat(value) : spread(value, indentAt(text, node.offset), text);
  return { offset: node.offset, length: node.length, content };
}

function flat(value: unknown): string {
  return Array.isArray(value)
    ? `[${value.map((item) => JSON.stringify(item)).join(", ")}]`
    : JSON.stringify(value);
}

function spread(value: unknown, indent: string, text: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", eolOf(text) + indent);
}

/** applyEdits sorts by place, and may reverse the order of edits at the same place. */
function together(edits: Edit[]): Edit[] {
  const [one, two] = edits;
  if (one === undefined || two === undefined || one.offset + one.length !== two.offset) return edits;
  return [{ offset: one.offset, length: one.length + two.length, content: one.content + two.content }];
}

/** Where the comma after a value is; undefined if the value is the last and has none. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined;
}

/** After the comments that end on the same line, which belong to the value before them. */
function afterComment(text: string, offset: number): number {
  const comments =
    /^(?:[ \t]*\/\*(?:(?!\*\/)[^\r\n])*\*\/)*(?:[ \t]*\/\/[^\r\n]*)?(?=[ \t]*(?:\r?\n|$))/.exec(
      text.slice(offset),
    );
  return offset + (comments?.[0].length ?? 0);
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? "\n";
}

/** One step of the file's indentation. */
function unitOf(text: string): string {
  return /^([ \t]+)"/m.exec(text)?.[1] ?? "  ";
}

/** The indentation of the line on which that place is. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
