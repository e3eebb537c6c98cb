/** The operators' pages: /healthz and /readyz for everybody, /metrics and /dashboard for who has a token. */
import type { FastifyInstance } from "fastify";
import { ERRORS } from "../../shared/errors.js";
import { type Authenticator, authenticate } from "../auth/authenticator.js";
import type { Gateway } from "../gateway.js";
import { dashboard } from "./dashboard.js";
import { healthRoutes } from "./health.js";
import { createMetrics } from "./metrics.js";

export interface OperatorRoutesOptions {
  gateway: Gateway;
  auth: Authenticator | undefined;
  isClosing(): boolean;
}

export async function operatorRoutes(app: FastifyInstance, options: OperatorRoutesOptions): Promise<void> {
  const { store, broker } = options.gateway;
  await app.register(healthRoutes, { askStore: store.operations.now, isClosing: options.isClosing });

  await app.register(async (guarded) => {
    guarded.addHook(
      "onRequest",
      // Not by throwing: the dashboard's library answers whatever is thrown as a fault of its own.
      authenticate(options.auth, "Basic", (reply, { code, message }) =>
        reply.code(ERRORS[code].http).send({ error_code: code, message }),
      ),
    );
    guarded.addHook("onSend", async (_request, reply) => {
      reply.header("cache-control", "no-store");
    });
    const metrics = createMetrics({ store, broker });
    guarded.get("/metrics", async (_request, reply) => {
      reply.type(metrics.contentType);
      return metrics.scrape();
    });
    await guarded.register(dashboard, { prefix: "/dashboard", store });
  });
}
