/** Who may see the operators' pages: whoever holds a token, as a bearer or, in a browser, as a password. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Authenticator } from "../auth.js";

/** An onRequest hook; without an authenticator (loopback only) everybody may. */
export function createGuard(auth: Authenticator | undefined) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (!auth || (await auth.principalOf(tokenOf(request.headers.authorization))) !== undefined) {
      return undefined;
    }
    return reply
      .code(401)
      .header("www-authenticate", 'Basic realm="Unity Job Broker", charset="UTF-8"')
      .send({ error: "A token is needed: as Bearer, or as the password of any user name." });
  };
}

/** The token of an Authorization header; undefined when it holds none. */
function tokenOf(authorization: string | undefined): string | undefined {
  const [, scheme = "", credentials = ""] = /^(\S+) +(\S+)$/.exec(authorization ?? "") ?? [];
  if (/^bearer$/i.test(scheme)) return credentials;
  if (!/^basic$/i.test(scheme)) return undefined;
  const [, password] = /^[^:]*:(.+)$/s.exec(Buffer.from(credentials, "base64").toString("utf8")) ?? [];
  return password;
}
