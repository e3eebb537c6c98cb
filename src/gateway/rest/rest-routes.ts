/** /api/v1: the broker's verbs over HTTP, in JSON, described by OpenAPI. */
import swagger, { type SwaggerTransformObject } from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyError, FastifyInstance } from "fastify";
import {
  hasZodFastifySchemaValidationErrors,
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  validatorCompiler,
} from "fastify-type-provider-zod";
import { z } from "zod";
import { BrokerError } from "../../shared/errors.js";
import { hasRole, ROLES } from "../../shared/principal.js";
import { head } from "../../shared/printable.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import type { WaitLimits } from "../../shared/wait-time.js";
import type { Audit } from "../auth/audit.js";
import type { Principals } from "../auth/authenticator.js";
import type { BrowserLogins } from "../auth/browser-logins.js";
import type { RequestRate } from "../auth/request-rate.js";
import type { RouteGuard } from "../auth/route-guard.js";
import type { Broker } from "../broker.js";
import { bodyIn, bodyTooLarge, clausesOf } from "../mcp/read-message.js";
import { shownClients } from "../mcp/tools/shown-clients.js";
import { refusal } from "../mcp/tools/tool-answer.js";
import type { RestExchanges } from "./exchange.js";
import { eventRoutes } from "./live/event-routes.js";
import { socketRoutes } from "./live/socket-routes.js";
import { sendHttpProblem, sendProblem } from "./problem.js";
import { NOT_KEPT } from "./rest-answer.js";
import { addRoute, json } from "./route.js";
import { editorRoutes } from "./routes/editors.js";
import { listRoutes } from "./routes/list.js";
import { readRoutes } from "./routes/read.js";
import { resultRoutes } from "./routes/result.js";
import { type RouteDeps, submitRoutes } from "./routes/submit.js";
import { named } from "./schemas/described.js";

// The MCP clients that are connected.
const Client = named(
  "ConnectedClient",
  z.strictObject({
    name: z.string(),
    version: z.string(),
    transport: z.enum(["stdio", "http"]),
    since: z.string(),
    principal: z.string().optional().describe("The name of another principal whose client it is."),
  }),
);

function clientRoutes(app: FastifyInstance, { broker, exchanges }: RouteDeps): void {
  addRoute(app, exchanges, {
    method: "GET",
    url: "/clients",
    summary: "Lists the MCP clients that are connected: yours, or with the role operate everybody's",
    tag: "operators",
    answers: {
      200: json(
        "At most 50.",
        z.strictObject({ clients: z.array(Client), more_clients: z.int().optional() }),
      ),
    },
    handle: async (_input, { principal }) => ({
      status: 200,
      body: shownClients(await broker.clients(principal.id), undefined),
      headers: NOT_KEPT,
    }),
  });
}

// Who asks, and who did what.
const Me = named("Me", z.strictObject({ principal: z.string(), name: z.string(), role: z.enum(ROLES) }));

const Entry = named(
  "AuditEntry",
  z.looseObject({
    at: z.string(),
    principal: z.string(),
    name: z.string(),
    verb: z.string(),
    tool: z.string().optional(),
    editor: z.string().optional(),
    log_id: z.string().optional(),
    answer: z.string(),
    error_code: z.string().optional(),
  }),
);

function aboutRoutes(
  app: FastifyInstance,
  { exchanges, audit }: RouteDeps & { audit: Audit | undefined },
): void {
  addRoute(app, exchanges, {
    method: "GET",
    url: "/me",
    summary: "Whose token this is",
    tag: "operators",
    readsStore: false,
    answers: { 200: json("The principal.", Me) },
    async handle(_input, { principal: { id, name, role } }) {
      return { status: 200, body: { principal: id, name, role }, headers: NOT_KEPT };
    },
  });
  addRoute(app, exchanges, {
    method: "GET",
    url: "/audit",
    summary: "Who called what, on a day",
    tag: "operators",
    query: z.strictObject({ day: z.iso.date().optional().describe("In UTC; today, if it is left out.") }),
    readsStore: false,
    answers: { 200: json("In order.", z.strictObject({ entries: z.array(Entry) })) },
    errors: ["FORBIDDEN"],
    async handle({ query: { day } }, { principal }) {
      if (!hasRole(principal, "admin"))
        throw new BrokerError(
          "FORBIDDEN",
          'The audit log shows everybody\'s calls. It requires the role "admin".',
        );
      const lines = ((await audit?.read(day)) ?? "").split("\n").filter((line) => line !== "");
      const entries = lines.flatMap(entryIn);
      return { status: 200, body: { entries }, headers: NOT_KEPT };
    },
  });
}

/** A process that was killed may have left half a line. */
function entryIn(line: string): z.input<typeof Entry>[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

export interface RestRoutesOptions {
  audit: Audit | undefined;
  broker: Broker;
  principals: Principals | undefined;
  store: Store;
  /** Aborted when the gateway closes. */
  closing: AbortSignal;
  keepAliveMs: number;
  exchanges: RestExchanges;
  routeGuard: RouteGuard;
  /** Browsers that are logged in; undefined: everybody may do everything. */
  logins: BrowserLogins | undefined;
  rate: RequestRate;
  waits: WaitLimits;
  log: Log;
  version: string;
  bodyLimit: number;
}

/** Registered with a prefix. */
export async function restRoutes(app: FastifyInstance, options: RestRoutesOptions): Promise<void> {
  const { routeGuard, logins, rate, log, version } = options;
  await describeRoutes(app, version);
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    if (hasZodFastifySchemaValidationErrors(error)) return sendProblem(reply, invalid(error));
    const status = error.statusCode ?? 500;
    if (!(error instanceof BrokerError) && status < 500) {
      return status === 413
        ? sendProblem(reply, bodyTooLarge(options.bodyLimit))
        : sendHttpProblem(reply, status, error.message);
    }
    return sendProblem(reply, refusal(error, log));
  });
  app.setNotFoundHandler((request, reply) =>
    sendHttpProblem(reply, 404, `There is no ${request.method} ${head(request.url, 200)} here.`),
  );

  await app.register(async (guarded) => {
    guarded.addHook("onRequest", routeGuard.guard("Bearer", sendProblem, logins));
    guarded.addHook("onRequest", rate.hook);
    guarded.addHook("onSend", async (_request, reply) => {
      reply.header("x-content-type-options", "nosniff");
    });
    guarded.setValidatorCompiler(validatorCompiler);
    // Answers are texts already (exchange.ts); that they fit their schemas, a test sees.
    guarded.setSerializerCompiler(() => JSON.stringify);
    takeJsonOnly(guarded, options.bodyLimit);
    submitRoutes(guarded, options);
    listRoutes(guarded, options);
    readRoutes(guarded, options);
    resultRoutes(guarded, options);
    editorRoutes(guarded, options);
    aboutRoutes(guarded, options);
    clientRoutes(guarded, options);
    eventRoutes(guarded, options);
    await socketRoutes(guarded, options);
    guarded.get("/openapi.json", { schema: { hide: true } as object, exposeHeadRoute: false }, async () =>
      app.swagger(),
    );
  });
  await app.register(async (browsed) => {
    browsed.addHook("onRequest", routeGuard.guard("Basic", sendProblem, logins));
    await documentPage(browsed);
  });
}

/** A page of another origin can send texts and forms without being asked (CORS), but no JSON; so nothing else has an effect. */
function takeJsonOnly(app: FastifyInstance, bodyLimit: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string", bodyLimit }, (_request, text, done) => {
    try {
      done(null, text === "" ? undefined : bodyIn(String(text)));
    } catch (error) {
      done(error as BrokerError);
    }
  });
  app.addHook("onRequest", async (request, reply) => {
    const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (request.method !== "POST" || type === "application/json") return undefined;
    return sendHttpProblem(reply, 415, "Send Content-Type: application/json.");
  });
}

/** What does not fit the route's schema. */
function invalid({ validation, validationContext }: FastifyError): BrokerError {
  const isBody = validationContext === "body";
  const faults = (validation ?? []).slice(0, 20).map(({ instancePath, keyword, message, params }) => {
    const path = instancePath.split("/").filter(Boolean);
    const issue = { ...params, code: keyword, path, message } as z.core.$ZodIssue;
    const [reason = ""] = clausesOf([issue], isBody ? undefined : validationContext);
    return { path: `${isBody ? "" : `${validationContext} `}${instancePath || "/"}`, reason };
  });
  const said = faults.map(({ reason }) => reason).join("; ");
  return new BrokerError("INVALID_ARGUMENTS", `The request is wrong: ${head(said, 1_000)}.`, { faults });
}

// The OpenAPI document, made of the routes' schemas, and a page to browse it, whose files are all served from here.

/** Nothing from elsewhere; styles that the page's own script sets. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Of the banner only the choice of light or dark is of use: there is one document. */
const WITHOUT_BANNER =
  ".swagger-ui .topbar .link, .swagger-ui .topbar .download-url-wrapper { display: none; } .swagger-ui .topbar-wrapper { justify-content: end; }";

/** Each named schema comes twice, as it is read and as it is written; most are used in one way only. */
const withoutUnused: SwaggerTransformObject = (described) => {
  const document = jsonSchemaTransformObject(described) as Described;
  const { schemas = {} } = document.components ?? {};
  const used = new Set<string>();
  const use = (text: string): void => {
    for (const [id, schema] of Object.entries(schemas)) {
      if (used.has(id) || !text.includes(`"#/components/schemas/${id}"`)) continue;
      used.add(id);
      use(JSON.stringify(schema));
    }
  };
  use(JSON.stringify({ ...document, components: {} }));
  const kept = Object.entries(schemas).filter(([id]) => used.has(id));
  const components = { ...document.components, schemas: Object.fromEntries(kept) };
  return { ...document, components } as ReturnType<SwaggerTransformObject>;
};

interface Described {
  components?: { schemas?: Record<string, object> };
}

/** Registered before the routes that it describes. */
async function describeRoutes(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Unity Job Broker",
        version,
        description:
          "Calls tools of Unity Editors. Each call runs at most once: a wait that ends, a retry or a lost connection runs nothing again.",
      },
      components: {
        securitySchemes: {
          token: { type: "http", scheme: "bearer", description: "unity-broker token create <name>" },
        },
      },
      security: [{ token: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: withoutUnused,
  });
}

/** Registered in a scope of its own, which a browser may open. */
async function documentPage(app: FastifyInstance): Promise<void> {
  app.addHook("onSend", async (_request, reply) => {
    reply.header("content-security-policy", CSP).header("x-content-type-options", "nosniff");
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    // Its own copy of the document, as a browser sends the password that it asked for to what lies beneath this page only.
    uiConfig: { deepLinking: true, persistAuthorization: false },
    staticCSP: CSP,
    theme: {
      title: "Unity Job Broker: REST API",
      css: [{ filename: "broker.css", content: WITHOUT_BANNER }],
    },
  });
}
