/** Where a client on this machine finds a gateway that listens there. */
export function gatewayOriginOf(host: string, port: number): string {
  // A wildcard address can be listened on, but not connected to.
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
