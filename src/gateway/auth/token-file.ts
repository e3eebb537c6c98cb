/** The token file: principals, and the hashes of their tokens. */
import { z } from "zod";
import { BrokerError } from "../../shared/errors.js";
import { type Principal, ROLES } from "../../shared/principal.js";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const PriorityClass = z.enum(["interactive", "batch"]).default("interactive");
const Selection = z
  .object({ allow: z.array(z.string()).default(["*"]), deny: z.array(z.string()).default([]) })
  .default({ allow: ["*"], deny: [] });

const Token = z.object({
  /** The id to revoke it by. */
  id: z.string().min(1),
  /** Of the token, in hexadecimal. 256 random bits need no slow hash. */
  sha256: Sha256,
  createdAt: z.string(),
  /** It is refused from then on; absent: never. */
  expiresAt: z.iso.datetime().optional(),
});
export type Token = z.infer<typeof Token>;

const Entry = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  role: z.enum(ROLES),
  priorityClass: PriorityClass,
  editors: Selection,
  tools: Selection,
  tokens: z.array(Token),
});
/** A principal with its tokens. */
export type Entry = z.infer<typeof Entry>;

const TokenFile = z.object({ principals: z.array(Entry) });

/** Throws TOKENS_UNREADABLE, without quoting the text. */
export function parseTokenFile(file: string, text: string): Entry[] {
  try {
    return TokenFile.parse(JSON.parse(text)).principals;
  } catch (error) {
    // The parser's message quotes the text, which may contain a token.
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : "it is not JSON";
    throw new BrokerError("TOKENS_UNREADABLE", `${file} is not a token file: ${reason}.`, {}, error);
  }
}

export function tokenFileText(principals: readonly Entry[]): string {
  return `${JSON.stringify({ principals }, undefined, 2)}\n`;
}

export function principalOf({ id, name, role, priorityClass, editors, tools }: Entry): Principal {
  return { id, name, role, priorityClass, editors, tools };
}
