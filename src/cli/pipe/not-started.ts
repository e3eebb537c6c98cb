/** The error for a broker that could not be started. */

/** `exitCode`: that of its process; 2 if its configuration is wrong. */
export class BrokerNotStarted extends Error {
  override readonly name = "BrokerNotStarted";
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}
