/** The MCP clients that are connected. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { shownClients } from "../../mcp/tools/shown-clients.js";
import { NOT_KEPT } from "../rest-answer.js";
import { addRoute, json } from "../route.js";
import { named } from "../schemas/described.js";
import type { RouteDeps } from "./submit.js";

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

export function clientRoutes(app: FastifyInstance, { broker, exchanges }: RouteDeps): void {
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
