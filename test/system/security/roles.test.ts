import { describe, expect, test } from "vitest";
import { permissionsOf } from "../../../src/gateway/auth/authenticator.js";
import { createTokens, type Grants } from "../../../src/gateway/auth/tokens.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { LOCAL, ROLES } from "../../../src/shared/principal.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open, tokensFile } = useTokenGateway(start);

interface Caller {
  call(name: string, args?: Record<string, unknown>): Promise<Answer>;
  tools(): Promise<string[]>;
}

async function stage() {
  const gateway = await open();
  const { tokens } = gateway;
  const connect = async (token: string): Promise<Caller> => {
    const client = await gateway.connect(token);
    return {
      call: async (name, args = {}) =>
        (await client.callTool({ name, arguments: args })).structuredContent as unknown as Answer,
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    };
  };
  const as = async (name: string, grants?: Grants) => connect(await tokens.create(name, grants));
  return { ...gateway, connect, as };
}

const A = { Name: "a", timeout: 30 };

describe("the role", () => {
  test("read calls what only reads, and is not offered the rest; submit calls everything", async () => {
    const { system, as } = await stage();
    const viewer = await as("viewer", { role: "read" });
    expect(await viewer.call("work", A)).toMatchObject({ status: "error", error_code: "FORBIDDEN" });
    expect(await viewer.call("get-hierarchy", { timeout: 30 })).toMatchObject({ status: "completed" });
    expect(await viewer.tools()).toContain("get-hierarchy");
    expect(await viewer.tools()).not.toContain("work");
    const ann = await as("ann");
    expect(await ann.tools()).toContain("work");
    expect(await ann.call("work", A)).toMatchObject({ status: "completed" });
    expect(system.executions("a")).toBe(1);
  });

  test("that is changed holds for open sessions from the next call on", async () => {
    const { tokens, as } = await stage();
    const ann = await as("ann");
    expect(await ann.call("work", A)).toMatchObject({ status: "completed" });
    await tokens.grant("ann", { role: "read" });
    expect(await ann.call("work", { ...A, Name: "b" })).toMatchObject({ error_code: "FORBIDDEN" });
    await tokens.grant("ann", { role: "submit" });
    expect(await ann.call("work", { ...A, Name: "b" })).toMatchObject({ status: "completed" });
  });
});

describe("tools and Editors", () => {
  test("a tool that is not allowed is neither listed nor run; deny wins over allow", async () => {
    const { system, as } = await stage();
    const ci = await as("ci", { tools: { allow: ["work", "run-*", "compile"], deny: ["compile"] } });
    const build = { BuildTarget: "Android" };
    expect(await ci.call("build-player", build)).toMatchObject({ error_code: "FORBIDDEN" });
    expect(await ci.call("compile", {})).toMatchObject({ error_code: "FORBIDDEN" });
    expect(await ci.call("work", A)).toMatchObject({ status: "completed" });
    const names = await ci.tools();
    expect(names).toEqual(expect.arrayContaining(["work", "run-tests", "get_operation_result"]));
    expect(names).not.toContain("compile");
    expect(names).not.toContain("build-player");
    expect(system.executions("a")).toBe(1);
  });

  test("an Editor that is not allowed is one that is not known: not listed, not named, not chosen", async () => {
    const { system, as } = await stage();
    const second = await system.addEditor();
    await system.present(second);
    const { editorId } = system.editor;
    const ann = await as("ann", { editors: { allow: [`${editorId.split("@")[0]}@*`], deny: [] } });
    const ben = await as("ben");
    const listed = (await ann.call("list_editors")) as unknown as { editors: { id: string }[] };
    expect(listed.editors.map(({ id }) => id)).toEqual([editorId]);
    const refused = await ann.call("work", { ...A, editor: second.editorId });
    expect(refused).toMatchObject({ error_code: "EDITOR_UNKNOWN" });
    expect(JSON.stringify(refused).replaceAll(`"${second.editorId}"`, "")).not.toContain(
      second.endpoint().projectPath,
    );
    expect(await ann.call("select_editor", { editor: second.editorId })).toMatchObject({
      error_code: "EDITOR_UNKNOWN",
    });
    // Two are connected, one of them is hers: nothing is ambiguous.
    expect(await ann.call("work", A)).toMatchObject({ status: "completed", editor: editorId });
    expect(await ben.call("work", { ...A, editor: second.editorId })).toMatchObject({ status: "completed" });
  });
});

describe("a name that is revoked and made anew", () => {
  test("inherits nothing: neither operations nor sessions nor the call itself", async () => {
    const { system, tokens, as } = await stage();
    const first = await as("ann");
    const { log_id } = await first.call("work", A);
    await tokens.revoke("ann");
    await expect(first.call("work", A)).rejects.toThrow(/401|does not know this token/);
    const second = await as("ann");
    expect(await second.call("get_operation_result", { log_id })).toMatchObject({ error_code: "NOT_FOUND" });
    expect(await second.call("list_operations")).toMatchObject({ operations: [] });
    const again = await second.call("work", A);
    expect(again).toMatchObject({ status: "completed" });
    expect(again.log_id).not.toBe(log_id);
    expect(system.executions("a")).toBe(2);
  });
});

describe("tokens", () => {
  test("a principal has several, of which one alone is revoked, and its operations stay its own", async () => {
    const { tokens, as, connect } = await stage();
    const ann = await as("ann");
    const { log_id } = await ann.call("work", A);
    const later = await tokens.add("ann");
    const [first] = (await tokens.list()).flatMap((entry) => entry.tokens);
    expect(await tokens.revoke("ann", first?.id ?? "")).toBe(true);
    await expect(ann.call("list_operations")).rejects.toThrow(/401|does not know this token/);
    const next = await connect(later);
    expect(await next.call("get_operation_result", { log_id })).toMatchObject({
      status: "completed",
      log_id,
    });
    expect(await tokens.revoke("ann", "none")).toBe(false);
  });

  test("one that has expired lets nobody in", async () => {
    const { tokens } = await stage();
    const past = await tokens.create("ann", {}, new Date(Date.now() - 1));
    expect(await tokens.identify(past)).toBeUndefined();
    const open = await tokens.add("ann", new Date(Date.now() + 60_000));
    expect((await tokens.identify(open))?.principal.name).toBe("ann");
  });
});

describe("every route asks who it is", () => {
  const ROUTES = ["/healthz", "/readyz", "/mcp", "/metrics", "/dashboard", "/audit"] as const;
  const HOLDERS = ["none", "wrong", "expired", "revoked", "read", "submit", "operate", "admin"] as const;
  const [OPEN, REFUSED, LET_IN, FORBIDDEN] = ["200", "401", "let in", "403"];
  const MATRIX: Record<(typeof ROUTES)[number], string[]> = {
    "/healthz": HOLDERS.map(() => OPEN),
    "/readyz": HOLDERS.map(() => OPEN),
    "/mcp": [REFUSED, REFUSED, REFUSED, REFUSED, LET_IN, LET_IN, LET_IN, LET_IN],
    "/metrics": [REFUSED, REFUSED, REFUSED, REFUSED, FORBIDDEN, FORBIDDEN, LET_IN, LET_IN],
    "/dashboard": [REFUSED, REFUSED, REFUSED, REFUSED, LET_IN, LET_IN, LET_IN, LET_IN],
    "/audit": [REFUSED, REFUSED, REFUSED, REFUSED, FORBIDDEN, FORBIDDEN, FORBIDDEN, LET_IN],
  };

  test("and answers as it is documented, for each token and role", async () => {
    const { tokens, origin } = await stage();
    const held: Record<string, string | undefined> = { wrong: "ujb_wrong" };
    held.expired = await tokens.create("expired", { role: "admin" }, new Date(Date.now() - 1));
    held.revoked = await tokens.create("revoked", { role: "admin" });
    await tokens.revoke("revoked");
    for (const role of ROLES) held[role] = await tokens.create(role, { role });
    for (const route of ROUTES) {
      const answers: string[] = [];
      for (const holder of HOLDERS) {
        const token = held[holder];
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const answer = await fetch(`${origin}${route}`, { headers });
        await answer.text();
        // A session is asked for next, of who was let in.
        const isIn =
          !OPEN_ROUTES.has(route) && (answer.status === 200 || (route === "/mcp" && answer.status === 400));
        answers.push(isIn ? LET_IN : String(answer.status));
      }
      expect(answers, route).toEqual(MATRIX[route]);
    }
  });
  const OPEN_ROUTES = new Set<string>(["/healthz", "/readyz"]);
});

test.each([
  ["*", "", true],
  ["*", "scene/open", true],
  ["scene*", "scene/open", true],
  ["scene/*", "scene/open", true],
  ["run-*", "run-tests", true],
  ["run-*", "do-run-tests", false],
  ["shop@*", "shop@1a2b3c4d", true],
  ["shop@*", "shop.old@1a2b3c4d", false],
  ["{compile,run-*}", "compile", true],
])("the glob %j and the name %j: %j", async (glob, name, isSeen) => {
  const find = async () => ({ ...LOCAL, editors: { allow: [glob], deny: [] } });
  expect((await permissionsOf({ find }, "ann")).sees(name)).toBe(isSeen);
  const deny = async () => ({ ...LOCAL, editors: { allow: ["*"], deny: [glob] } });
  expect((await permissionsOf({ find: deny }, "ann")).sees(name)).toBe(!isSeen);
});

describe("an Editor that a principal may not use is not named to it", () => {
  test("by what keeps it from working", async () => {
    const { system, tokens } = await stage();
    await tokens.create("ben", { editors: { allow: ["nothing@*"] } });
    const [ben] = await tokens.list();
    const message = "The Editor of Secret at /home/ann/secret is in Safe Mode.";
    const at = await system.store.operations.now();
    const diagnosis = { code: "SAFE_MODE", message, next: "", project: "Secret", at } as const;
    await system.store.editors.reportDiagnosis(system.editor.editorId, diagnosis);
    const refused = system.client(ben?.id).submit("work", { Name: "a" });
    await expect(refused).rejects.toMatchObject({
      code: "NO_EDITOR",
      message: expect.not.stringContaining("Secret"),
    });
  });

  test("when it has not come back after the store was lost; the call waits for it all the same", async () => {
    const tokens = createTokens(tokensFile());
    const system = await start({ gateway: { backMs: 0 }, principals: tokens });
    const { editor, redis, present } = system;
    await tokens.create("ann");
    const second = await system.addEditor();
    await present(editor);
    await present(second);
    await tokens.create("ben", { editors: { allow: [second.editorId] } });
    const [ann, ben] = await tokens.list();
    const { record } = await system.client(ann?.id).submit("work", { Name: "a", editor: editor.editorId });
    await system.client(ann?.id).outcome(record.logId);
    await editor.faults.crash();
    await system.away(editor);
    await redis.flush();
    await present(second);
    const refused = system.client(ben?.id).submit("work", { Name: "b" });
    await expect(refused).rejects.toMatchObject({
      code: "EDITORS_NOT_BACK",
      message: expect.not.stringContaining(editor.editorId),
      details: { editors: [] },
    });
    await editor.faults.restart();
    await present(editor);
  });
});
