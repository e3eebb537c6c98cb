/** /operators/login and /operators/logout: a form without a script, so that the token passes through no script. */
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance, FastifyReply } from "fastify";
import { BrokerError, ERRORS } from "../../shared/errors.js";
import { storeFault } from "../../shared/store/connect.js";
import type { BrowserLogins } from "../auth/browser-logins.js";
import { isOwnOrigin, mayAct } from "../auth/own-page.js";

/** The login's page, without a script. */

export interface LoginPage {
  /** Where the page's files are. */
  assets: string;
  /** Where it leads. */
  to: string;
  /** Why the last try was refused. */
  error?: string | undefined;
}

function loginPage({ assets, to, error }: LoginPage): string {
  const refusal = error === undefined ? "" : `<p class="refusal" role="alert">${shown(error)}</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Log in · Unity Job Broker</title>
<link rel="icon" href="${assets}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets}/style/base.css">
<link rel="stylesheet" href="${assets}/style/login.css">
</head>
<body class="login">
<main>
<img src="${assets}/icon.svg" alt="" width="40" height="40">
<h1>Unity Job Broker</h1>
<p class="hint">Editors and operations of this gateway.</p>
${refusal}
<form method="post" action="/operators/login">
<input type="hidden" name="to" value="${escaped(to)}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" spellcheck="false" required autofocus${error === undefined ? "" : ' aria-invalid="true"'}>
<button type="submit">Log in</button>
</form>
<p class="hint">On the gateway's machine, <code>unity-broker token local</code> shows yours. A login ends after 12 hours, and with
its token.</p>
</main>
</body>
</html>
`;
}

/** What stands between backticks becomes code. */
function shown(text: string): string {
  return escaped(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}

/** Text in an element or a quoted attribute. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

export interface LoginOptions {
  /** Most wrong tokens from one address in a minute. */
  tries: number;
  /** How long the answer to a wrong token takes, ms. */
  wrongMs: number;
}

/** A token has 256 random bits: these keep the log and the processor quiet, not the token secret. */
const LOGIN_DEFAULTS: LoginOptions = { tries: 10, wrongMs: 500 };

/** What a form with a token needs. */
const BODY_LIMIT = 4 * 1024;

export interface LoginRoutesOptions extends Partial<LoginOptions> {
  logins: BrowserLogins | undefined;
  /** Where the page's files are. */
  assets: string;
}

export async function loginRoutes(app: FastifyInstance, options: LoginRoutesOptions): Promise<void> {
  const { logins, assets } = options;
  const { tries = LOGIN_DEFAULTS.tries, wrongMs = LOGIN_DEFAULTS.wrongMs } = options;

  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: BODY_LIMIT },
    (_request, text, done) => done(null, new URLSearchParams(String(text))),
  );
  // The logout, which says nothing more.
  app.addContentTypeParser("*", { bodyLimit: BODY_LIMIT }, (_request, _body, done) => done(null, undefined));

  const show = (reply: FastifyReply, to: string, error?: BrokerError): FastifyReply =>
    reply
      .code(error ? ERRORS[error.code].http : 200)
      .type("text/html; charset=utf-8")
      .send(loginPage({ assets, to, error: error?.message }));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const fault = storeFault(error);
    if (fault) return show(reply, HOME, fault);
    return reply.code(error.statusCode ?? 500).send({ message: "The request could not be read." });
  });

  app.get<{ Querystring: { to?: string } }>("/operators/login", async (request, reply) => {
    const to = placeIn(request.query.to);
    if (!logins || (await logins.identify(request))) return reply.redirect(to, 303);
    return show(reply, to);
  });

  const countWrong = app.createRateLimit({
    max: tries,
    timeWindow: 60_000,
    keyGenerator: ({ ip }) => ip,
    allowList: [],
  });
  app.post("/operators/login", async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const to = placeIn(form.get("to") ?? undefined);
    // Else another page could log somebody in as somebody else.
    if (!isOwnOrigin(request.headers))
      return show(reply, to, new BrokerError("CROSS_SITE_REQUEST", "This login comes from another page."));
    if (!logins) return reply.redirect(to, 303);
    const cookie = await logins.open(request, form.get("token")?.trim() ?? "");
    // However many wrong ones came: others share the address, all of this machine or behind a proxy.
    if (cookie !== undefined) return reply.header("set-cookie", cookie).redirect(to, 303);
    const counted = await countWrong(request);
    if (!counted.isAllowed && counted.isExceeded) {
      const what = `More than ${tries} wrong tokens came from this address in a minute.`;
      return show(reply, to, new BrokerError("TOO_MANY_LOGINS", what));
    }
    await delay(wrongMs);
    return show(reply, to, new BrokerError("LOGIN_REFUSED", "This gateway does not know this token."));
  });

  app.post("/operators/logout", async (request, reply) => {
    if (!mayAct(request)) {
      const { code, message } = new BrokerError("CROSS_SITE_REQUEST", "This logout comes from another page.");
      return reply.code(ERRORS[code].http).send({ error_code: code, message });
    }
    if (logins) reply.header("set-cookie", await logins.end(request));
    return reply.code(204).send();
  });
}

const HOME = "/operators";

/** Only the gateway's own pages: a link to the login must not lead elsewhere. */
function placeIn(to = ""): string {
  const isOwn = /^\/(operators|dashboard|metrics|audit)([/?][\w\-./?&=%:+,*~@]*)?$/.test(to);
  return isOwn && !to.includes("..") ? to : HOME;
}
