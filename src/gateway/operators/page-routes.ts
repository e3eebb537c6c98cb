/**
 * /operators: the operators' page (src/page), its parts and its login. The page holds nothing but itself and is open to
 * everybody: what it shows it asks of /api/v1, which is not. So a link in a message opens it too, although a browser sends no
 * SameSite=Strict cookie with the first request that comes from elsewhere.
 */
import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BrowserLogins } from "../auth/browser-logins.js";
import { type LoginOptions, loginRoutes } from "./login-routes.js";
import { readPageFiles } from "./page-files.js";

export interface PageRoutesOptions {
  /** Undefined: everybody may do everything, and nobody logs in. */
  logins: BrowserLogins | undefined;
  login?: Partial<LoginOptions> | undefined;
}

/** Only the page's own files, no text that becomes markup, and no other page around it. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

export async function pageRoutes(app: FastifyInstance, { logins, login }: PageRoutesOptions): Promise<void> {
  const files = readPageFiles();
  const assets = `/operators/assets/${files.digest}`;
  const shell = filled(files.find("index.html")?.body, { assets, login: logins ? "yes" : "no" });
  const tag = `"${createHash("sha256").update(shell).digest("base64url").slice(0, 22)}"`;

  app.addHook("onSend", async (_request, reply) => {
    reply.header("content-security-policy", CONTENT_POLICY);
    reply.header("x-content-type-options", "nosniff");
    // Not "no-referrer": a form's request would then have the origin "null".
    reply.header("referrer-policy", "same-origin");
    reply.header("cross-origin-opener-policy", "same-origin");
    reply.header("cross-origin-resource-policy", "same-origin");
    if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
  });

  app.get("/", async (request, reply) => {
    if (!request.headers.accept?.includes("text/html")) return reply.callNotFound();
    return reply.redirect("/operators", 302);
  });

  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header("cache-control", "no-cache").header("etag", tag);
    if (request.headers["if-none-match"] === tag) return reply.code(304).send();
    return reply.type("text/html; charset=utf-8").send(shell);
  };
  app.get("/operators", show);
  app.get("/operators/*", show);

  app.get<{ Params: { digest: string; "*": string } }>(
    "/operators/assets/:digest/*",
    async ({ params }, reply) => {
      const file = params.digest === files.digest ? files.find(params["*"]) : undefined;
      if (!file) return reply.callNotFound();
      return reply
        .header("cache-control", "public, max-age=31536000, immutable")
        .type(file.type)
        .send(file.body);
    },
  );

  await app.register(loginRoutes, { logins, assets, ...login });
}

/** The page with the place of its files, and whether somebody can log out. */
function filled(body: Buffer | undefined, words: Readonly<Record<string, string>>): string {
  return (body?.toString("utf8") ?? "").replace(/\{\{(\w+)\}\}/g, (_all, name: string) => words[name] ?? "");
}
