/** Import direction (ARCHITECTURE.md, "Who may import whom"). */
module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "no-orphans", severity: "error", from: { orphan: true, pathNot: "^src/cli/main\\.ts$" }, to: {} },
    {
      name: "gateway-and-worker-never-meet",
      comment: "They share a store, not code: each must be able to run in a process of its own.",
      severity: "error",
      from: { path: "^src/(gateway|worker)/" },
      to: { path: "^src/(gateway|worker)/", pathNot: "^src/$1/" },
    },
    {
      name: "shared-is-the-ground",
      severity: "error",
      from: { path: "^src/shared/" },
      to: { path: "^src/", pathNot: "^src/shared/" },
    },
    {
      name: "the-heart-is-pure",
      comment: "No Redis, sockets, files or environment, except in the store's and the machine's rooms.",
      severity: "error",
      from: { path: "^src/shared/", pathNot: "^src/shared/(store|machine)/" },
      to: {
        path: "^src/shared/(store|machine)/|ioredis|bullmq|^(fs|fs/promises|net|http|child_process|process|os)$",
      },
    },
    {
      name: "redis-only-in-the-store",
      comment: "Except the BullMQ worker itself, and the embedded server's own health check.",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: "^src/(shared/store|embedded-redis)/|^src/worker/execution/lane\\.ts$",
      },
      to: { path: "node_modules/(ioredis|bullmq)/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "editor-sockets-only-in-the-transport",
      severity: "error",
      from: { path: "^src/(gateway|worker)/", pathNot: "^src/worker/transport/" },
      to: { path: "^net$" },
    },
    {
      name: "transport-knows-no-room-above",
      severity: "error",
      from: { path: "^src/worker/transport/" },
      to: { path: "^src/worker/", pathNot: "^src/worker/transport/" },
    },
    {
      name: "the-editor-room-knows-no-operations",
      comment: "It speaks to an Editor; what becomes of an operation is decided above.",
      severity: "error",
      from: { path: "^src/worker/(editor|bridges|discovery|recovery)/" },
      to: { path: "^src/worker/(owner|execution)/" },
    },
    {
      name: "verbs-know-no-surface",
      comment: "MCP, HTTP and the operators' pages are skins over the broker's verbs.",
      severity: "error",
      from: { path: "^src/gateway/([^/]+\\.ts$|editors/|tools/)" },
      to: { path: "^src/gateway/(mcp|http|operators)/" },
    },
    {
      name: "revisions-know-nothing-of-each-other",
      comment: "One that nobody speaks any more is deleted as a folder.",
      severity: "error",
      from: { path: "^src/gateway/mcp/(revision-[0-9]+)/" },
      to: { path: "^src/gateway/mcp/revision-", pathNot: "^src/gateway/mcp/$1/" },
    },
    {
      name: "documents-know-only-shared",
      comment: "Their threads get bytes: no Redis, sockets or processes where filters of callers run.",
      severity: "error",
      from: { path: "^src/documents/" },
      to: {
        path: "^src/|node_modules/|^(net|http|https|child_process|dgram|tls)$",
        pathNot: "^src/documents/|^src/shared/(?!store/|machine/)|node_modules/(jq-wasm|@types)/",
      },
    },
    {
      name: "only-the-gateway-knows-documents",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(gateway|documents)/" },
      to: { path: "^src/documents/" },
    },
    {
      name: "jq-only-in-documents",
      comment: "It does not yield: outside of a thread it would hold up the process.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/documents/jq\\.ts$" },
      to: { path: "node_modules/jq-wasm/" },
    },
    {
      name: "simulated-editors-know-only-shared",
      severity: "error",
      from: { path: "^src/(simulator|editor-host)/" },
      to: { path: "^src/(gateway|worker|cli|embedded-redis)/" },
    },
    {
      name: "nothing-knows-the-simulated-editors",
      severity: "error",
      from: { path: "^src/(gateway|worker|shared|embedded-redis)/" },
      to: { path: "^src/(simulator|editor-host)/" },
    },
    {
      name: "declarations-are-light",
      comment: "Help loads them all: what a command runs is loaded when it is called.",
      severity: "error",
      from: { path: "^src/cli/declared/" },
      to: { pathNot: "^src/(cli/clients/clients\\.json|shared/principal\\.ts)$" },
    },
    {
      name: "nobody-imports-the-cli",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/cli/" },
      to: { path: "^src/cli/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default"],
    },
  },
};
