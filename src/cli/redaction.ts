/** Secrets that may get into a log line through an error's message: tokens, and passwords in addresses. */

/** A gateway's token (auth/tokens.ts), an Editor's proof or token (64 hexadecimal digits or more), `user:password@`. */
const SECRETS: readonly [RegExp, string][] = [
  [/\bujb_[\w-]{20,}/g, "ujb_[redacted]"],
  [/("(?:token|proof|password|authorization|pushKey)"\s*:\s*")[^"]+/gi, "$1[redacted]"],
  [/(\bBearer\s+)[\w.~+/-]+=*/gi, "$1[redacted]"],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"]*:)[^\s@/"]+(?=@)/gi, "$1[redacted]"],
];

export function withoutSecrets(line: string): string {
  return SECRETS.reduce((text, [secret, instead]) => text.replace(secret, instead), line);
}
