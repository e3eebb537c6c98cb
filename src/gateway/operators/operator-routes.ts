/** The operators' pages: /healthz, /readyz and /operators for everybody, /metrics, /dashboard and /audit with a token and a role. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FastifyAdapter } from "@bull-board/fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BrokerError, ERRORS } from "../../shared/errors.js";
import { packageFile } from "../../shared/package-file.js";
import { hasRole, type Principal } from "../../shared/principal.js";
import { head } from "../../shared/printable.js";
import type { Store } from "../../shared/store/store.js";
import { seesEditor } from "../auth/authenticator.js";
import type { BrowserLogins } from "../auth/browser-logins.js";
import type { RequestRate } from "../auth/request-rate.js";
import type { RouteGuard } from "../auth/route-guard.js";
import type { Gateway } from "../gateway.js";
import { describeJobs, shownData, shownReturn, type Viewer } from "./board-jobs.js";
import { healthRoutes } from "./health.js";
import { type LoginOptions, loginRoutes } from "./login-routes.js";
import { createMetrics } from "./metrics.js";

/** The files of the operators' page (src/page), as built: read once, since they are few and small. */
export interface PageFile {
  type: string;
  body: Buffer;
}

export interface PageFiles {
  /** Names the content of all files: another build has another one, so that a browser may keep these for ever. */
  digest: string;
  /** By its path, such as views/editors.js. */
  find(path: string): PageFile | undefined;
}

/** A browser reads no TypeScript: also from source, in tests and in `npm run dev`, the built page is served. */
const FOLDER = packageFile("dist/page");

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".svg": "image/svg+xml",
};

function readPageFiles(folder = FOLDER): PageFiles {
  const files = new Map<string, PageFile>();
  const hash = createHash("sha256");
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const body = readFileSync(join(folder, name));
    hash.update(name).update(body);
    files.set(name.replaceAll("\\", "/"), { type, body });
  }
  return { digest: hash.digest("hex").slice(0, 16), find: (path) => files.get(path) };
}

// /operators: the operators' page (src/page), its parts and its login. The page holds nothing but itself and is open to
// everybody: what it shows it asks of /api/v1, which is not. So a link in a message opens it too, although a browser sends no
// SameSite=Strict cookie with the first request that comes from elsewhere.

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

async function pageRoutes(app: FastifyInstance, { logins, login }: PageRoutesOptions): Promise<void> {
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

export interface OperatorRoutesOptions {
  gateway: Gateway;
  routeGuard: RouteGuard;
  isClosing(): boolean;
  rate: RequestRate;
  /** Browsers that are logged in; undefined: everybody may do everything. */
  logins: BrowserLogins | undefined;
  login?: Partial<LoginOptions> | undefined;
}

export async function operatorRoutes(app: FastifyInstance, options: OperatorRoutesOptions): Promise<void> {
  const { store, broker, audit } = options.gateway;
  const askStore = async (): Promise<void> => {
    await store.operations.now();
    await store.assertFit();
  };
  await app.register(healthRoutes, { askStore, isClosing: options.isClosing });

  await app.register(pageRoutes, { logins: options.logins, login: options.login });

  await app.register(async (guarded) => {
    // Not by throwing: the dashboard's library answers every exception as its own failure.
    guarded.addHook("onRequest", options.routeGuard.guard("Basic", refuse, options.logins));
    guarded.addHook("onRequest", async (request, reply) => {
      const refused = await options.rate.refused(request);
      return refused && refuse(reply.header("retry-after", "1"), refused);
    });
    guarded.addHook("onSend", async (_request, reply) => {
      reply.header("cache-control", "no-store");
    });
    const metrics = createMetrics({ store, broker });
    guarded.get("/metrics", async ({ identity: { principal } }, reply) => {
      if (!hasRole(principal, "operate"))
        return forbidden(
          reply,
          'The metrics count everybody\'s operations. They require the role "operate".',
        );
      reply.type(metrics.contentType);
      return metrics.scrape();
    });
    guarded.get<{ Querystring: { day?: string } }>("/audit", async ({ identity, query }, reply) => {
      if (!hasRole(identity.principal, "admin"))
        return forbidden(reply, 'The audit log shows everybody\'s calls. It requires the role "admin".');
      const { day } = query;
      if (day !== undefined && !DAY.test(day)) {
        const what = `"${head(String(day), 40)}" is not a day such as 2027-01-31.`;
        return refuse(reply, new BrokerError("INVALID_ARGUMENTS", what));
      }
      reply.type("application/jsonl");
      return (await audit?.read(day)) ?? "";
    });
    await guarded.register(dashboard, { prefix: "/dashboard", store });
  });
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

const forbidden = (reply: FastifyReply, why: string): FastifyReply =>
  refuse(reply, new BrokerError("FORBIDDEN", why));

function refuse(reply: FastifyReply, { code, message }: BrokerError): FastifyReply {
  return reply.code(ERRORS[code].http).send({ error_code: code, message });
}

// /dashboard: Bull Board, read-only. board-jobs.ts decides what jobs show.

interface DashboardOptions {
  prefix: string;
  store: Pick<Store, "queues" | "editors" | "operations" | "pools">;
}

/** Only the page's own parts, for the operator's privacy and for offline use. */
const DASHBOARD_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";
const FOREIGN_FONTS = /<link href="https:\/\/fonts\.googleapis\.com[^>]*>/;

/** Serves below `prefix`; the caller guards it. A principal that may not `operate` sees only its own operations' jobs. */
async function dashboard(app: FastifyInstance, { prefix: path, store }: DashboardOptions): Promise<void> {
  const adapter = new FastifyAdapter().setBasePath(path);

  /** By the request's headers, which are all that Bull Board passes on. */
  const askers = new WeakMap<object, Principal>();

  const lanes = async (): Promise<BullMQAdapter[]> => {
    const [editors, pools] = await Promise.all([store.editors.ids(), store.pools.ids()]);
    return [...editors, ...pools].flatMap((owner) => store.queues.lanesOf(owner)).map(toLookAt);
  };
  const board = createBullBoard({
    queues: [],
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: "Unity Job Broker",
        hideDocsLink: true,
        pollingInterval: { showSetting: true },
      },
      handlerHooks: {
        // Editors come and go: every answer is about the Editors known now.
        before: async () => board.replaceQueues(await lanes()),
        after({ request }, answer) {
          const asking = askers.get(request.headers);
          const viewer = asking && hasRole(asking, "operate") ? undefined : viewerOf(asking);
          return describeJobs(answer, store.operations, viewer);
        },
      },
    },
  });

  // Bull Board's readOnlyMode refuses changes to one queue, but not changes to all of them.
  app.addHook("onRequest", async (request, reply) => {
    askers.set(request.headers, request.identity.principal);
    if (request.method === "GET" || request.method === "HEAD") return undefined;
    return reply
      .code(405)
      .header("allow", "GET, HEAD")
      .send({ error: "The dashboard is read-only. Use the tools or the command line." });
  });
  app.addHook("onSend", async (_request, reply, payload) => {
    reply.header("content-security-policy", DASHBOARD_POLICY);
    return typeof payload === "string" ? payload.replace(FOREIGN_FONTS, "") : payload;
  });
  await app.register(adapter.registerPlugin());
}

function viewerOf(principal: Principal | undefined): Viewer {
  const sees = principal ? seesEditor(principal) : () => false;
  return {
    isOwn: (record) => record.principal === principal?.id,
    // <Editor>.<lane>
    seesQueue: (name) => sees(name.slice(0, name.lastIndexOf("."))),
  };
}

/** Read-only, and without anything that a job holds besides its operation. */
function toLookAt(queue: ConstructorParameters<typeof BullMQAdapter>[0]): BullMQAdapter {
  const adapter = new BullMQAdapter(queue, { readOnlyMode: true });
  adapter.setFormatter("data", shownData);
  adapter.setFormatter("returnValue", shownReturn);
  // An operation's is told with its record (board-jobs.ts).
  adapter.setFormatter("progress", () => 0);
  return adapter;
}
