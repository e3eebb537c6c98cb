/**
 * How a worker and an Editor prove to each other that both hold the Editor's token, which itself is never sent
 * (docs/reference/protocol.md, "Hello and fencing"). Each side answers the other's nonce, so recorded messages are
 * useless; the role keeps a proof from being sent back; the Editor's address keeps it from being relayed to another port.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export type ProofRole = "editor" | "worker";

export interface Challenge {
  workerNonce: string;
  editorNonce: string;
  /** Where the Editor listens, as `addressOf` writes it. */
  address: string;
}

const NONCE_BYTES = 24;

/** A nonce of 32 random characters. */
export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString("base64url");
}

/** `host:port`; an IPv4-mapped IPv6 address as IPv4. */
export function addressOf(host: string, port: number): string {
  return `${host.replace(/^::ffff:/i, "")}:${port}`;
}

/** HMAC-SHA-256 as 64 hexadecimal digits. No part contains a line break: the schema checks nonces and addresses. */
export function proofOf(
  role: ProofRole,
  token: string,
  { workerNonce, editorNonce, address }: Challenge,
): string {
  const text = [role, workerNonce, editorNonce, address].join("\n");
  return createHmac("sha256", token).update(text).digest("hex");
}

/** Constant time for every proof of the right length. */
export function isProof(proof: string, role: ProofRole, token: string, challenge: Challenge): boolean {
  const expected = Buffer.from(proofOf(role, token, challenge));
  const given = Buffer.from(proof);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
