/** What the worker tells the Editor of the MCP clients that are connected. */
import { z } from "zod";

/** The connected MCP clients, for the Editor's window. Names are those that clients give themselves. */
export const ClientsNotice = z.looseObject({
  clients: z.array(
    z.looseObject({
      name: z.string(),
      version: z.string(),
      transport: z.enum(["stdio", "http"]),
      /** The tool of the client's operation that the Editor has. */
      runs: z.string().optional(),
      /** How many of its operations have not been sent to the Editor yet. */
      waits: z.int().optional(),
    }),
  ),
  /** Including those that are left out. */
  total: z.int().nonnegative(),
});
export type ClientsNotice = z.infer<typeof ClientsNotice>;
