/** Who asks, and who did what. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import { hasRole, ROLES } from "../../../shared/principal.js";
import type { Audit } from "../../auth/audit.js";
import { NOT_KEPT } from "../rest-answer.js";
import { addRoute, json } from "../route.js";
import { named } from "../schemas/described.js";
import type { RouteDeps } from "./submit.js";

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

export function aboutRoutes(
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
