/** Which events a client asks for. */
import { z } from "zod";

export const Filter = z.strictObject({
  tool: z.string().optional(),
  editor: z.string().optional().describe("As a call names it."),
  state: z.string().optional().describe("Such as running."),
  principal: z.string().optional().describe('Another\'s id, or * for everybody: the role "operate".'),
});
