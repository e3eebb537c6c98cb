/** The part of a pino logger that the broker uses: values first, then the sentence. */
export interface Log {
  debug(values: Record<string, unknown>, message: string): void;
  info(values: Record<string, unknown>, message: string): void;
  warn(values: Record<string, unknown>, message: string): void;
  error(values: Record<string, unknown>, message: string): void;
}
