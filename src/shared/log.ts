/** The part of a pino logger that the broker uses: values first, then the sentence. */
export interface Log {
  debug(values: Record<string, unknown>, message: string): void;
  info(values: Record<string, unknown>, message: string): void;
  warn(values: Record<string, unknown>, message: string): void;
  error(values: Record<string, unknown>, message: string): void;
}

/** The same log, whose lines all have these values. */
export function withFields(log: Log, fields: Record<string, unknown>): Log {
  return {
    debug: (values, message) => log.debug({ ...fields, ...values }, message),
    info: (values, message) => log.info({ ...fields, ...values }, message),
    warn: (values, message) => log.warn({ ...fields, ...values }, message),
    error: (values, message) => log.error({ ...fields, ...values }, message),
  };
}
