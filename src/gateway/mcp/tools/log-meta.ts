/** The names, in MCP's `_meta`, of what the Console says while an operation runs (broker-tools.ts). */

/** In a request: the number of the last line that the client has, 0 for none. */
export const LOG_AFTER = "unity-job-broker/log_after";
/** In its answer: {lines: [{type, message}], next, missed?, more?} */
export const LOG = "unity-job-broker/log";
