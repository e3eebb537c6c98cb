import type { Log } from "../../src/shared/telemetry.js";

/** For what a test neither reads nor shows. */
export const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function nothing(): void {
  // Nobody reads it.
}
