/** The schemas that the document names once, for all routes that use them. */
import { z } from "zod";

/** A schema under a name of its own in the document. */
export function named<S extends z.ZodType>(id: string, schema: S): S {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id });
  return schema;
}

/** A JSON object of any content, as it is: nothing of it is copied or left out. */
export const anyObject = z
  .unknown()
  .refine((value) => typeof value === "object" && value !== null && !Array.isArray(value), "is not an object")
  .transform((value) => value as Record<string, unknown>)
  .meta({ type: "object" });

/** ISO 8601. */
export const time = z.iso.datetime();
