/** Which addresses belong to this machine only, and the refusal of others. */
import { BrokerError } from "../../shared/errors.js";

export function addressRefused(host: string): BrokerError {
  return new BrokerError("ADDRESS_REFUSED", `Listening on ${host} is refused.`);
}

/** Is this a loopback name or address? */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return bare === "localhost" || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare);
}

/** The same of a connection's other end, which may be an IPv4 address in the form of IPv6. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return isLoopback(address?.replace(/^::ffff:/i, ""));
}

export function portInUse(host: string, port: number, cause: unknown): BrokerError {
  return new BrokerError("PORT_IN_USE", `Port ${port} of ${host} is in use.`, { host, port }, cause);
}
