/** Makes the frame of a message to the Editor. */
import { encodeFrame } from "../../shared/wire/framing.js";
import { FrameTooLarge } from "./disconnect.js";

/** Throws FrameTooLarge if its body has more than `most` bytes. */
export function outgoing(text: string, most: number): Buffer {
  const length = Buffer.byteLength(text);
  if (length > most) throw new FrameTooLarge("outgoing", length, most);
  return encodeFrame(text);
}
