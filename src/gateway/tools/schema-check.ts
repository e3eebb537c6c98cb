/** Checks a call's arguments against a JSON Schema. The schema's author decides how long it takes: see schema-thread.ts. */
import { Ajv, type ErrorObject, type Options, type SchemaObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { didYouMean } from "../../shared/did-you-mean.js";
import { shortened } from "../../shared/shortened-text.js";

export interface Fault {
  /** JSON Pointer into the arguments. */
  path: string;
  reason: string;
}

/** `unusable`: why nothing was checked. */
export type SchemaAnswer = { faults: Fault[] } | { unusable: string };

export interface SchemaCheck {
  /** Both are JSON text. */
  answer(schema: string, args: string): SchemaAnswer;
  /** Compiles a schema, so that its first check need not. */
  prepare(schema: string): void;
}

/** Most faults reported, and UTF-16 units of each path and reason. */
const [MOST_FAULTS, MOST_TEXT] = [20, 200];

/** Most UTF-16 units of compiled schemas kept. */
const MOST_KEPT = 4_000_000;

/**
 * Most Unicode properties (`\p{…}`) in all patterns of one schema. Compiling this many takes seconds, and thousands take
 * gigabytes of native memory: no heap limit bounds that, and a terminated thread finishes it first.
 */
const MOST_PROPERTIES = 16;
const PROPERTY = /\\p\{/gi;

type Check = (args: unknown) => ErrorObject[];

export function createSchemaCheck(): SchemaCheck {
  const compiled = new Map<string, Check>();
  const compile = createCompiler();
  let kept = 0;
  const checkOf = (schema: string): Check => {
    const known = compiled.get(schema);
    if (known) return known;
    const check = compile(JSON.parse(schema) as SchemaObject);
    if (kept > MOST_KEPT) compiled.clear();
    kept = compiled.size === 0 ? schema.length : kept + schema.length;
    compiled.set(schema, check);
    return check;
  };
  return {
    prepare: (schema) => void checkOf(schema),

    answer(schema, args) {
      try {
        const faults = checkOf(schema)(JSON.parse(args));
        return { faults: faults.slice(0, MOST_FAULTS).map(faultOf) };
      } catch (error) {
        return { unusable: shortened(String((error as Error).message), MOST_TEXT) };
      }
    },
  };
}

const OPTIONS: Options = {
  allErrors: true,
  // So that a fault can say what was meant.
  verbose: true,
  // Another bridge may use unknown keywords and formats.
  strict: false,
  validateFormats: false,
  // So that 0.3 counts as a multiple of 0.1.
  multipleOfPrecision: 9,
  // A parameter called "constructor" is present only if the caller gave it.
  ownProperties: true,
};

/** The compiler's own meta-schemas are compiled once in a process: that takes longer than a hundred schemas. */
const older = lazily(() => new Ajv(OPTIONS));
const current = lazily(() => new Ajv2020(OPTIONS));

function createCompiler(): (schema: SchemaObject) => Check {
  const compile = ({ $schema, ...schema }: SchemaObject): Check => {
    // Its answer would be a promise, and its faults the rejection of one that nobody awaits.
    if ("$async" in schema) throw new Error("a schema must not be asynchronous");
    const isOlder = typeof $schema === "string" && /draft-0[467]/.test($schema);
    const judge = isOlder ? older() : current();
    if (!judge.validateSchema(schema)) throw new Error(`schema is invalid: ${judge.errorsText()}`);
    const options: Options = { ...OPTIONS, validateSchema: false, code: { regExp: createPatterns() } };
    const validate = (isOlder ? new Ajv(options) : new Ajv2020(options)).compile(schema);
    return (args) => (validate(args) ? [] : (validate.errors ?? []));
  };

  return (schema) => {
    try {
      return compile(schema);
    } catch (error) {
      // A failure is kept as well: it would fail each time.
      return () => {
        throw error;
      };
    }
  };
}

function lazily<T>(create: () => T): () => T {
  let created: T | undefined;
  return () => {
    created ??= create();
    return created;
  };
}

/** The patterns of one schema: ECMAScript's with the flag "u"; many that were not written for it are invalid then. */
function createPatterns() {
  let properties = 0;
  const regExp = (pattern: string, flags: string): RegExp => {
    properties += pattern.match(PROPERTY)?.length ?? 0;
    if (properties > MOST_PROPERTIES)
      throw new Error(`more than ${MOST_PROPERTIES} Unicode properties in patterns`);
    try {
      return new RegExp(pattern, flags);
    } catch {
      return new RegExp(pattern);
    }
  };
  return Object.assign(regExp, { code: "regExp" });
}

function faultOf({ keyword, instancePath, message, params, data, parentSchema }: ErrorObject): Fault {
  const fault = (path: string, reason: string): Fault => ({
    path: shortened(path || "/", MOST_TEXT),
    reason: shortened(reason, MOST_TEXT),
  });
  if (keyword === "additionalProperties") {
    const name = String(params.additionalProperty);
    const known = Object.keys((parentSchema?.properties ?? {}) as object);
    return fault(`${instancePath}/${name}`, `there is no such parameter${didYouMean(name, known)}`);
  }
  if (keyword === "enum") {
    const allowed = (params.allowedValues as unknown[]).map((value) => JSON.stringify(value));
    const meant = typeof data === "string" ? didYouMean(JSON.stringify(data), allowed) : "";
    return fault(instancePath, `must be one of ${allowed.join(", ")}${meant}`);
  }
  return fault(instancePath, message ?? "is wrong");
}
