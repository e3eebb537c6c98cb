/** A picture of the simulated Editor: colours that grow to the right and down, as PNG. */
import { crc32, deflateSync } from "node:zlib";

const WIDTH = 320;
const HEIGHT = 180;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export interface Picture {
  width: number;
  height: number;
  png: Buffer;
}

export function pictureUpTo(maxWidth: number): Picture {
  const width = Math.min(WIDTH, maxWidth);
  const height = Math.max(1, Math.round((HEIGHT * width) / WIDTH));
  const rows = Buffer.alloc((1 + 3 * width) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = y * (1 + 3 * width) + 1 + 3 * x;
      rows.set([17 * Math.floor((x * 16) / width), 17 * Math.floor((y * 16) / height), 128], at);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits each of red, green and blue.
  header.set([8, 2], 8);
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return { width, height, png: Buffer.concat([SIGNATURE, ...chunks]) };
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
