/** Reads and writes serialized properties, in the forms of the bridge's read-component and modify-component. */
import { nearest } from "../../shared/did-you-mean.js";
import { head } from "../../shared/shortened-text.js";
import { toolFailure } from "../tool-definition.js";
import type { Property } from "./component-catalogue.js";
import { type Component, idOf, objectsOf, pathOf, type SceneWorld } from "./scene-world.js";
import { target } from "./targets.js";

const AXES = ["x", "y", "z", "w"];
const CHANNELS = ["r", "g", "b", "a"];

/** A property, and its path from the component. */
interface Found {
  path: string;
  property: Property;
}

/** Finds one as callers write it: by Unity's path, or without m_, in any case, and with [0] for .Array.data[0]. */
export function findProperty(component: Component, path: string): Found {
  const whole = path.replaceAll(/(?<!\.Array\.data)\[(\d+)\]/g, ".Array.data[$1]");
  let at: Found = {
    path: "",
    property: { name: "", type: component.type, kind: "Group", children: component.properties },
  };
  for (const part of whole.split(/\.(?!data\[)/)) at = below(component, at, part);
  return at;
}

function below(component: Component, { path, property }: Found, part: string): Found {
  const children = property.children ?? [];
  const join = (name: string): string => (path === "" ? name : `${path}.${name}`);
  if (property.kind === "List") {
    const element = children[Number(/^Array\.data\[(\d+)\]$/.exec(part)?.[1])];
    if (element) return { path: join(part), property: element };
    throw toolFailure(
      "property_not_found",
      `${component.type}.${path} has ${children.length} elements and no ${part}.`,
    );
  }
  const found =
    children.find(({ name }) => name === part) ?? children.find(({ name }) => plain(name) === plain(part));
  if (found) return { path: join(found.name), property: found };
  const names = children.map(({ name }) => name);
  const meant = nearest(part, names);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  const there = names.length === 0 ? "It has none." : `There are ${names.join(", ")}.`;
  const where = path === "" ? component.type : `${component.type}.${path}`;
  throw toolFailure("property_not_found", `${where} has no property ${part}.${hint} ${there}`);
}

const plain = (name: string): string => name.replace(/^m_/, "").replaceAll(/[ _]/g, "").toLowerCase();

export function readProperty(world: SceneWorld, one: Property, mostElements: number): unknown {
  const children = one.children ?? [];
  if (one.kind === "Group") return readAll(world, children, mostElements);
  if (one.kind === "List") {
    const first = children
      .slice(0, mostElements)
      .map((element) => readProperty(world, element, mostElements));
    return first.length === children.length ? first : { size: children.length, first };
  }
  if (one.kind === "Other") return one.type;
  if (one.kind !== "Reference" || one.value === null) return one.value;
  const type = referredType(one);
  if (typeof one.value === "string") return { type, asset: one.value };
  const node = objectsOf(world).find(({ number }) => number === one.value);
  return node ? { type, id: idOf(world, node), path: pathOf(node) } : null;
}

export const readAll = (
  world: SceneWorld,
  properties: readonly Property[],
  mostElements: number,
): Record<string, unknown> =>
  Object.fromEntries(properties.map((one) => [one.name, readProperty(world, one, mostElements)]));

export function writeProperty(world: SceneWorld, component: Component, path: string, value: unknown): void {
  write(world, component, findProperty(component, path), value);
}

function write(world: SceneWorld, component: Component, found: Found, value: unknown): void {
  const { path, property } = found;
  if (property.kind === "Group") {
    if (!isRecord(value)) throw wrong(found, "an object with its properties", value);
    for (const [name, one] of Object.entries(value))
      write(world, component, below(component, found, name), one);
  } else if (property.kind === "List") {
    if (!Array.isArray(value)) throw wrong(found, "an array", value);
    const { children = [], element } = property;
    while (children.length < value.length && element) {
      children.push(structuredClone(children.at(-1) ?? element));
    }
    children.length = value.length;
    property.children = children;
    value.forEach((one, index) => {
      write(world, component, below(component, found, `Array.data[${index}]`), one);
    });
  } else if (property.kind === "Other") {
    throw toolFailure(
      "property_not_writable",
      `${path} is a ${property.type}, which only the Editor's window edits.`,
    );
  } else {
    property.value = valueFor(world, found, value);
  }
}

function valueFor(world: SceneWorld, found: Found, value: unknown): unknown {
  switch (found.property.kind) {
    case "Integer":
      if (Number.isInteger(value)) return value;
      throw wrong(found, "an integer", value);
    case "Number":
      if (typeof value === "number") return value;
      throw wrong(found, "a number", value);
    case "Flag":
      if (typeof value === "boolean") return value;
      throw wrong(found, "true or false", value);
    case "Text":
      if (typeof value === "string") return value;
      throw wrong(found, "a string", value);
    case "Choice":
      return wordFor(found, value);
    case "Vector":
      return numbersFor(found, value, AXES, (found.property.value as number[]).length);
    case "Color":
      return typeof value === "string" ? htmlColor(found, value) : numbersFor(found, value, CHANNELS, 4);
    default:
      return referenceFor(world, found, value);
  }
}

function wordFor(found: Found, value: unknown): unknown {
  const { words = [] } = found.property;
  if (Number.isInteger(value)) return value;
  if (typeof value !== "string") throw wrong(found, "a word", value);
  const bare = (word: string): string => word.replaceAll(" ", "").toLowerCase();
  const same = words.find((word) => bare(word) === bare(value));
  if (same !== undefined) return same;
  throw toolFailure("invalid_arguments", `${found.path} must be one of ${words.join(", ")}, not ${value}.`);
}

/** From an array, or from an object with the named ones; a color's alpha may be left out. */
function numbersFor(found: Found, value: unknown, names: readonly string[], size: number): number[] {
  const given: unknown[] = Array.isArray(value)
    ? value
    : isRecord(value) && Object.keys(value).every((name) => names.includes(name))
      ? names.slice(0, size).flatMap((name) => (name in value ? [value[name]] : []))
      : [];
  const least = names === CHANNELS ? 3 : size;
  const isNumbers = (list: unknown[]): list is number[] => list.every((one) => typeof one === "number");
  if (given.length < least || given.length > size || !isNumbers(given)) {
    throw wrong(found, `${size} numbers`, value);
  }
  return [...given, ...Array<number>(size - given.length).fill(1)];
}

function htmlColor(found: Found, text: string): number[] {
  const digits = /^#?([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(text);
  if (!digits) throw wrong(found, 'a color, as [1, 0.5, 0, 1] or "#FF8000"', text);
  const full = `${digits[1]}${digits[2] ?? "FF"}`;
  return [0, 2, 4, 6].map((at) => Number.parseInt(full.slice(at, at + 2), 16) / 255);
}

function referenceFor(world: SceneWorld, found: Found, value: unknown): unknown {
  if (value === null) return null;
  const text = isRecord(value) ? (value.id ?? value.asset ?? value.path) : value;
  if (typeof text !== "string" || text === "") {
    throw wrong(found, "an object's id or path, an asset's path, or null", value);
  }
  if (/^(Assets|Packages)\//.test(text)) return text;
  const node = target(world, text, found.path);
  const type = referredType(found.property);
  if (node.components.some((one) => one.type === type)) return node.number;
  throw toolFailure(
    "reference_refused",
    `${found.property.name} wants a ${type}, and ${node.name} has none.`,
  );
}

const referredType = ({ type }: Property): string => type.split(/[<>]/)[1] ?? type;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function wrong({ path, property }: Found, wanted: string, value: unknown): Error {
  const given = JSON.stringify(value);
  const shown = given.length > 60 ? `${head(given, 60)}...` : given;
  return toolFailure("invalid_arguments", `${path} (${property.type}) must be ${wanted}, not ${shown}.`);
}
