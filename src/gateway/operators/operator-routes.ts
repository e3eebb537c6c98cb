/** The operators' pages: /healthz, /readyz and /operators for everybody, /metrics, /dashboard and /audit with a token and a role. */
import type { FastifyInstance, FastifyReply } from "fastify";
import { BrokerError, ERRORS } from "../../shared/errors.js";
import { hasRole } from "../../shared/principal.js";
import { head } from "../../shared/shortened-text.js";
import type { BrowserLogins } from "../auth/browser-logins.js";
import type { RequestRate } from "../auth/request-rate.js";
import type { RouteGuard } from "../auth/route-guard.js";
import type { Gateway } from "../gateway.js";
import { dashboard } from "./dashboard.js";
import { healthRoutes } from "./health.js";
import type { LoginOptions } from "./login-routes.js";
import { createMetrics } from "./metrics.js";
import { pageRoutes } from "./page-routes.js";

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
