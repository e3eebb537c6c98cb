/** A message as the frame that carries it to the Editor. */
import { encodeFrame } from "../../shared/wire/framing.js";
import { FrameTooLarge } from "./disconnect.js";

/** Throws FrameTooLarge where its body has more bytes than `most`. */
export function outgoing(text: string, most: number): Buffer {
  const length = Buffer.byteLength(text);
  if (length > most) throw new FrameTooLarge("outgoing", length, most);
  return encodeFrame(text);
}
