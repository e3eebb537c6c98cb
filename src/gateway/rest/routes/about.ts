/** Who asks. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { ROLES } from "../../../shared/principal.js";
import { NOT_KEPT } from "../rest-answer.js";
import { addRoute, json } from "../route.js";
import { named } from "../schemas/described.js";
import type { RouteDeps } from "./submit.js";

const Me = named("Me", z.strictObject({ principal: z.string(), name: z.string(), role: z.enum(ROLES) }));

export function aboutRoutes(app: FastifyInstance, { exchanges }: RouteDeps): void {
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
}
