/** The OpenAPI document of a running gateway as a test reads it: each answer is compared with it, and what was never seen is listed. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Said } from "./rest-client.js";

interface Media {
  schema?: Record<string, unknown>;
}

interface Described {
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Record<string, Media> };
}

export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, unknown> };
}

export interface Contract {
  /** Method and path, as in the document. */
  routes: { method: string; path: string }[];
  /** Throws if the document does not have this answer. */
  observe(method: string, asked: string, said: Said): void;
  /** What the document says and nobody has seen: "GET /me 401 UNAUTHORIZED". */
  unseen(): string[];
}

const PREFIX = "/api/v1";
const pointer = (part: string): string =>
  encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));

export function createContract(document: OpenApi): Contract {
  // The document's own words, such as `paths`, are no keywords of JSON Schema.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document as object, "api");
  const seen = new Set<string>();
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );

  /** The codes of an answer, or its status alone where it has none. */
  const documented = routes.flatMap(({ method, path }) => {
    const { responses = {} } = document.paths[path]?.[method.toLowerCase()] ?? {};
    return Object.entries(responses).flatMap(([status, { content = {} }]) => {
      if (status === "default") return [];
      const problem = content["application/problem+json"]?.schema as
        | { properties?: { error_code?: { enum?: string[]; const?: string } } }
        | undefined;
      const { enum: several, const: only } = problem?.properties?.error_code ?? {};
      return (several ?? [only ?? ""]).map((code) => `${method} ${path} ${status} ${code}`.trim());
    });
  });

  const templateOf = (asked: string): string => {
    const parts = `${PREFIX}${asked}`.split("?")[0]?.split("/") ?? [];
    const fits = (path: string): boolean => {
      const own = path.split("/");
      return (
        own.length === parts.length && own.every((part, at) => part.startsWith("{") || part === parts[at])
      );
    };
    // One without a name in braces fits better.
    const [best] = Object.keys(document.paths)
      .filter(fits)
      .sort((a, b) => a.split("{").length - b.split("{").length);
    if (best === undefined) throw new Error(`the document has no ${asked}`);
    return best;
  };

  return {
    routes,
    observe(method, asked, { status, headers, body }) {
      const path = templateOf(asked);
      const where = `${method} ${path} ${status}`;
      const described = document.paths[path]?.[method.toLowerCase()];
      const isNamed = described?.responses[String(status)] !== undefined;
      const { content = {} } = described?.responses[isNamed ? String(status) : "default"] ?? {};
      const type = headers.get("content-type")?.split(";")[0] ?? "";
      if (Object.keys(content).length > 0) {
        if (!content[type]) throw new Error(`${where}: the document has no ${type || "empty answer"}`);
        const place = [
          "paths",
          path,
          method.toLowerCase(),
          "responses",
          isNamed ? String(status) : "default",
        ];
        const at = [...place, "content", type, "schema"].map(pointer).join("/");
        const check = ajv.getSchema(`api#/${at}`) ?? ajv.compile({ $ref: `api#/${at}` });
        if (!check(body))
          throw new Error(`${where}: ${ajv.errorsText(check.errors)}: ${JSON.stringify(body).slice(0, 500)}`);
      } else if (body !== undefined) throw new Error(`${where}: the document has no body`);
      const code = (body as { error_code?: string } | undefined)?.error_code;
      const isProblem = type === "application/problem+json";
      seen.add(`${where} ${isProblem && isNamed ? (code ?? "") : ""}`.trim());
    },
    unseen: () => documented.filter((one) => !seen.has(one)).sort(),
  };
}
