/** Where a client on this machine finds a gateway that listens there. */
export function gatewayOriginOf(host: string, port: number): string {
  // Every address of this machine is one to listen on, none to connect to.
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
