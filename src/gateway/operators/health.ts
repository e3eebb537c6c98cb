/** /healthz: this process answers. /readyz: it can serve. Open to everybody, since they reveal nothing else. */
import type { FastifyInstance } from "fastify";
import { BrokerError } from "../../shared/errors.js";

export interface HealthOptions {
  /** Asks Redis; rejects when it does not answer, with STORE_UNFIT if new calls are refused. */
  askStore(): Promise<unknown>;
  isClosing(): boolean;
  /** How long Redis may take, ms. */
  patienceMs?: number;
}

export const HEALTH_PATHS: readonly string[] = ["/healthz", "/readyz"];

export async function healthRoutes(app: FastifyInstance, options: HealthOptions): Promise<void> {
  const { askStore, isClosing, patienceMs = 1_000 } = options;

  app.get("/healthz", async () => ({ status: "ok" }));

  app.get("/readyz", async (_request, reply) => {
    const missing: string[] = [];
    if (isClosing()) missing.push("open gateway");
    const store = await answers(askStore, patienceMs);
    if (store !== true) missing.push("redis");
    if (missing.length === 0) return { status: "ready" };
    const why = store instanceof BrokerError ? { error_code: store.code, message: store.message } : {};
    return reply.code(503).send({ status: "not ready", missing, ...why });
  });
}

/** True, or why not; false: it took too long. */
function answers(ask: () => Promise<unknown>, patienceMs: number): Promise<unknown> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => resolve(false), patienceMs);
    ask()
      .then(
        () => resolve(true),
        (error: unknown) => resolve(error),
      )
      .finally(() => clearTimeout(limit));
  });
}
