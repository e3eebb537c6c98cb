/** /api/v1: the broker's verbs over HTTP, in JSON, described by OpenAPI. */
import type { FastifyError, FastifyInstance } from "fastify";
import { hasZodFastifySchemaValidationErrors, validatorCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";
import { BrokerError } from "../../shared/errors.js";
import type { Log } from "../../shared/log.js";
import { head } from "../../shared/shortened-text.js";
import type { Store } from "../../shared/store/store.js";
import type { WaitLimits } from "../../shared/wait-time.js";
import type { Audit } from "../auth/audit.js";
import type { Principals } from "../auth/authenticator.js";
import type { BrowserLogins } from "../auth/browser-logins.js";
import type { RequestRate } from "../auth/request-rate.js";
import type { RouteGuard } from "../auth/route-guard.js";
import type { Broker } from "../broker.js";
import { bodyIn, bodyTooLarge, clausesOf } from "../mcp/read-message.js";
import { refusal } from "../mcp/tools/tool-answer.js";
import { describeRoutes, documentPage } from "./document.js";
import type { RestExchanges } from "./exchange.js";
import { eventRoutes } from "./live/event-routes.js";
import { socketRoutes } from "./live/socket-routes.js";
import { sendHttpProblem, sendProblem } from "./problem.js";
import { aboutRoutes } from "./routes/about.js";
import { clientRoutes } from "./routes/clients.js";
import { editorRoutes } from "./routes/editors.js";
import { listRoutes } from "./routes/list.js";
import { readRoutes } from "./routes/read.js";
import { resultRoutes } from "./routes/result.js";
import { submitRoutes } from "./routes/submit.js";

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
