/** The error for a broker that could not be started. */

/** How a broker ends that was started for other settings than it read. */
export const OTHER_SETTINGS = 75;

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
