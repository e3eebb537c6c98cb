/**
 * The forms of the files that others read, written down from their documentation: no field that is not known, so that a
 * misspelt one is seen. The bundle's manifest is checked by the schema that its own tools bring.
 */
import { z } from "zod";

const VERSION = z.string().regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
const KEBAB = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/);
const Person = z.strictObject({
  name: z.string().min(1),
  email: z.email().optional(),
  url: z.url().optional(),
});

const INPUT = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  value: z.string().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).optional(),
};

const RegistryPackage = z
  .strictObject({
    registryType: z.enum(["npm", "pypi", "oci", "nuget", "mcpb"]),
    registryBaseUrl: z.url().optional(),
    identifier: z.string().min(1),
    // A version, never a range.
    version: VERSION.optional(),
    runtimeHint: z.string().optional(),
    transport: z.strictObject({ type: z.literal("stdio") }),
    packageArguments: z
      .array(z.strictObject({ ...INPUT, type: z.literal("positional"), value: z.string() }))
      .optional(),
    environmentVariables: z.array(z.strictObject({ ...INPUT, name: z.string().min(1) })).optional(),
    fileSha256: z
      .string()
      .regex(/^[a-f0-9]{64}$/)
      .optional(),
  })
  .refine(({ registryType, fileSha256 }) => registryType !== "mcpb" || fileSha256 !== undefined, {
    error: "a bundle needs its hash",
  });

/**
 * An entry of the MCP registry, schema 2025-12-11
 * (https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/generic-server-json.md).
 */
export const RegistryEntry = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  version: VERSION,
  packages: z.array(RegistryPackage).min(1),
});

const PLUGIN = {
  name: KEBAB,
  version: VERSION,
  description: z.string().min(1),
  author: Person.optional(),
  license: z.string().optional(),
  keywords: z.array(z.string()).optional(),
};

/** A plugin of Claude Code (https://code.claude.com/docs/en/plugins-reference). */
export const Plugin = z.strictObject({
  $schema: z.literal("https://json.schemastore.org/claude-code-plugin-manifest.json"),
  ...PLUGIN,
});

/** A marketplace of Claude Code (https://code.claude.com/docs/en/plugin-marketplaces). */
export const Marketplace = z.strictObject({
  $schema: z.literal("https://json.schemastore.org/claude-code-marketplace.json"),
  name: KEBAB,
  description: z.string().min(1),
  owner: Person,
  plugins: z
    .array(
      z.strictObject({
        ...PLUGIN,
        // Relative to the folder that holds .claude-plugin.
        source: z.string().regex(/^\.\/(?!.*\.\.)/),
        category: z.string().optional(),
      }),
    )
    .min(1),
});

/** A file of MCP servers, as Claude Code reads it from a plugin (https://code.claude.com/docs/en/mcp). */
export const PluginServers = z.strictObject({
  mcpServers: z.record(
    KEBAB,
    z.strictObject({
      type: z.literal("stdio"),
      command: z.string().min(1),
      args: z.array(z.string()),
    }),
  ),
});

/** The head of a skill (https://agentskills.io/specification). */
export const SkillHead = z.strictObject({
  name: KEBAB.max(64),
  description: z.string().min(1).max(1024),
});
