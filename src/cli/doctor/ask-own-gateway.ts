/** Asks a gateway of this machine with this user's own token, which the process of another user must not get. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { endOf } from "../../shared/machine/connection-filter.js";
import { isAnotherUsersServer, isOwnServer } from "../../shared/machine/peer-owner.js";

/**
 * The status of its answer. Any process that holds the port can answer as a gateway does: so the token is sent only on a connection
 * whose other end certainly is this user's or root's.
 */
export async function askOwnGateway(
  url: string,
  token: string,
  answerMs: number,
): Promise<number | "another user's" | "unknown"> {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== "http:") return "unknown";
  const socket = connect({ host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 80) });
  const signal = AbortSignal.timeout(answerMs);
  try {
    await once(socket, "connect", { signal });
    const ends = [endOf(socket, "local"), endOf(socket, "remote")] as const;
    if (isAnotherUsersServer(...ends)) return "another user's";
    if (!isOwnServer(...ends)) return "unknown";
    const asked = request({
      createConnection: () => socket,
      path: pathname,
      headers: { host: new URL(url).host, authorization: `Bearer ${token}` },
      signal,
    }).end();
    const [answer] = (await once(asked, "response", { signal })) as [IncomingMessage];
    return answer.statusCode ?? "unknown";
  } catch {
    return "unknown";
  } finally {
    socket.destroy();
  }
}
