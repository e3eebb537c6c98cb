/** A path in comparable form: on Windows either slash and any case mean the same path. */
export function comparablePath(path: string): string {
  const plain = path.replaceAll("\\", "/").replace(/\/+$/, "");
  return /^[a-z]:/i.test(plain) ? plain.toLowerCase() : plain;
}
