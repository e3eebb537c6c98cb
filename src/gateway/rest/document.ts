/** The OpenAPI document, made of the routes' schemas, and a page to browse it, whose files are all served from here. */
import swagger, { type SwaggerTransformObject } from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";

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
export async function describeRoutes(app: FastifyInstance, version: string): Promise<void> {
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
export async function documentPage(app: FastifyInstance): Promise<void> {
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
