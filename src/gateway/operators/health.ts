/** /healthz: this process answers. /readyz: it can serve. Open to everybody, since they reveal nothing else. */
import type { FastifyInstance } from "fastify";

export interface HealthOptions {
  /** Asks Redis; rejects when it does not answer. */
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
    if (!(await answers(askStore, patienceMs))) missing.push("redis");
    if (missing.length === 0) return { status: "ready" };
    return reply.code(503).send({ status: "not ready", missing });
  });
}

function answers(ask: () => Promise<unknown>, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => resolve(false), patienceMs);
    ask()
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(limit));
  });
}
