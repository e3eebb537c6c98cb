/** The values of settings that are lists, as people write them (config.ts). */
import { z } from "zod";
import { isLabel, ownLabels } from "./editors/target.js";
import { EXECUTION_CLASSES } from "./tools/tool.js";

export const executionClasses = z
  .string()
  .default("")
  .transform((text, context) => {
    const entries = text
      .split(",")
      .filter((entry) => entry.trim() !== "")
      .map((entry) => entry.split("=").map((part) => part.trim()));
    const classes = z.record(z.string(), z.enum(EXECUTION_CLASSES)).safeParse(Object.fromEntries(entries));
    if (classes.success) return classes.data;
    context.addIssue("name=quick, name=medium or name=long, separated by commas");
    return z.NEVER;
  });

export const resources = z
  .string()
  .default("")
  .transform((text, context) => {
    const entries = text.split(",").map((entry) => entry.trim().toLowerCase());
    const places = entries.filter(Boolean).map((entry): [string, number] => {
      const at = entry.lastIndexOf("=");
      const [label, count] = [entry.slice(0, Math.max(0, at)), Number(entry.slice(at + 1))];
      if (!isLabel(label) || !Number.isInteger(count) || count < 1)
        context.addIssue(`"${entry}" is not label=count, such as gpu=1`);
      // They are not among the labels that an Editor gives itself, from which its places are counted.
      else if (ownLabels([label]).length === 0)
        context.addIssue(`"${label}" is of every Editor by itself: give the Editors a label of their own`);
      return [label, count];
    });
    return Object.fromEntries(places);
  });

/** An Editor without our bridge: its project folder, or its address. */
export type NamedEditor = { project: string } | { name?: string; host: string; port: number };

const FULL_PATH = /^([a-zA-Z]:)?[\\/]/;
const ADDRESS = /^(?:([\w. -]+)=)?(?:([\w.-]+):)?(\d{1,5})$/;

export const namedEditors = z
  .string()
  .default("")
  .transform((text, context) => {
    const entries = text.split(",").map((entry) => entry.trim());
    return entries.filter(Boolean).flatMap((entry): NamedEditor[] => {
      const [, name, host = "127.0.0.1", port] = ADDRESS.exec(entry) ?? [];
      if (Number(port) > 0 && Number(port) < 65_536) {
        return [{ ...(name === undefined ? {} : { name }), host, port: Number(port) }];
      }
      if (FULL_PATH.test(entry)) return [{ project: entry }];
      context.addIssue(`"${entry}" is neither host:port nor the full path of a project`);
      return [];
    });
  });

export const paths = z
  .string()
  .default("")
  .transform((text, context) => {
    const entries = text
      .split(",")
      .map((entry) => entry.trim())
      .filter(Boolean);
    for (const entry of entries)
      if (!FULL_PATH.test(entry)) context.addIssue(`"${entry}" is not a full path`);
    return entries;
  });
