/** Pictures of which a test needs no more than their beginning: each type's signature, and bytes behind it. */

const SIGNATURES = {
  "image/png": "89504e470d0a1a0a",
  "image/jpeg": "ffd8ffe0",
  "image/gif": "474946383961",
  "image/webp": "524946461000000057454250",
} as const;

export type PictureType = keyof typeof SIGNATURES;
export const PICTURE_TYPES = Object.keys(SIGNATURES) as PictureType[];

/** In base64. */
export function picture(type: PictureType, bytes = 60): string {
  const rest = Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 7) % 251));
  Buffer.from(SIGNATURES[type], "hex").copy(rest);
  return rest.toString("base64");
}
