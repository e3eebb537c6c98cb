/** The log of a command: on stderr, as lines on a terminal and as JSON elsewhere; with MCP_DEBUG also in a file, because clients hide stderr. */
import { dirname, isAbsolute, join, resolve } from "node:path";
import { type DestinationStream, destination, multistream, pino, stdSerializers } from "pino";
import type { Config } from "../shared/config.js";
import type { Log } from "../shared/log.js";
import { makeOwnFolder } from "../shared/machine/private-folder.js";
import { printable } from "../shared/printable.js";
import { openDebugFile } from "./debug-file.js";
import { readableLine } from "./log-line.js";
import { withoutSecrets } from "./redaction.js";

/**
 * Opens the log. Each line is written before the call returns, so that none is lost if the process dies.
 *
 * A file that cannot be written is reported on stderr and not used: a debug log must not stop the work.
 */
export function createLog(
  config: Pick<Config, "UNITY_BROKER_LOG_LEVEL" | "MCP_DEBUG">,
  place: { dataDir: string; command: string },
  redact: (line: string) => string = withoutSecrets,
): Log {
  const hooks = { streamWrite: redact };
  // Else an Error under this name is written as {}.
  const serializers = { error: stdSerializers.err };
  const level = config.UNITY_BROKER_LOG_LEVEL;
  const stderr = onTerminal(
    destination({ dest: 2, sync: true }),
    process.stderr.isTTY ? readableLine : undefined,
  );
  const folder = logFolder(config.MCP_DEBUG, place.dataDir);
  if (folder === undefined) return pino({ level, hooks, serializers }, stderr);
  try {
    // A folder that the user named may contain other files, so its mode stays.
    if (dirname(folder) === place.dataDir) makeOwnFolder(folder);
    const { file, descriptor } = openDebugFile(folder, place.command);
    const debug = onTerminal(destination({ fd: descriptor, sync: true }));
    const streams = [
      { level: "debug" as const, stream: debug },
      // pino cannot log without a stream.
      ...(level === "silent" ? [] : [{ level, stream: stderr }]),
    ];
    const log = pino({ level: "debug", hooks, serializers }, multistream(streams));
    log.info({ file }, "MCP_DEBUG: everything is logged to this file");
    return log;
  } catch (error) {
    const log = pino({ level, hooks, serializers }, stderr);
    log.warn({ folder, error: (error as Error).message }, "MCP_DEBUG: the file cannot be written");
    return log;
  }
}

/** A terminal may obey characters that JSON does not escape. */
function onTerminal(
  stream: DestinationStream,
  read: (line: string) => string = (line) => line,
): DestinationStream {
  return { write: (line) => stream.write(printable(read(line))) };
}

/** Undefined if no file is wanted. */
function logFolder(wanted: string | undefined, dataDir: string): string | undefined {
  if (wanted === undefined || /^(0|false|off|no)$/i.test(wanted)) return undefined;
  const isPath = isAbsolute(wanted) || /[\\/]/.test(wanted);
  return isPath ? resolve(wanted) : join(dataDir, "logs");
}
