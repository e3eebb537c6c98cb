/** How often the private Redis waits for the disk. */
import { statfsSync } from "node:fs";

/** With less room than this a disk is about to be full. */
const LITTLE_ROOM_BYTES = 64 * 1024 * 1024;

/**
 * `always`: each write is on disk before its answer, so a kill and a power cut lose nothing. But then Redis ends by itself once the
 * disk refuses a write. Where there is little room: `everysec`, with which it goes on, and refuses writes until there is room.
 */
export function fsyncFor(directory: string): "always" | "everysec" {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < LITTLE_ROOM_BYTES ? "everysec" : "always";
}
