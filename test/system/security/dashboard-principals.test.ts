/** The dashboard shows a principal its own work; the role `operate` sees everybody's. */
import { appRoutes } from "@bull-board/api/dist/routes.js";
import { expect, test } from "vitest";
import type { Grants } from "../../../src/gateway/auth/tokens.js";
import { jobIdOf } from "../../../src/shared/operation/operation.js";
import { queueName } from "../../../src/shared/store/keys.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

async function stage() {
  const { system, tokens, origin, bearer } = await open();
  const as = async (name: string, grants?: Grants) => {
    const headers = await bearer(name, grants);
    const { id } = (await tokens.list()).find((entry) => entry.name === name) ?? { id: "" };
    const ask = async (path: string) => {
      const answer = await fetch(`${origin}/dashboard${path}`, { headers });
      return { status: answer.status, text: await answer.text() };
    };
    return { id, ask };
  };
  const runs = async (principal: string, Name: string) => {
    const client = system.client(principal);
    const { record } = await client.submit("work", { Name });
    return (await client.outcome(record.logId)).record;
  };
  return { system, as, runs, queue: queueName(system.editor.editorId, "main") };
}

test("in lists and by its id one's own job is shown and another's is not; the operator sees both", async () => {
  const { as, runs, queue } = await stage();
  const [ann, ben, operator] = [await as("ann"), await as("ben"), await as("op", { role: "operate" })];
  const anns = await runs(ann.id, "a");
  const bens = await runs(ben.id, "b");
  const list = `/api/queues?activeQueue=${queue}&status=latest&page=1&jobsPerPage=10`;
  const seen = (await ann.ask(list)).text;
  expect(seen).toContain(anns.logId);
  expect(seen).not.toContain(bens.logId);
  const all = (await operator.ask(list)).text;
  expect(all).toContain(anns.logId);
  expect(all).toContain(bens.logId);
  const job = (record: typeof anns) => `/api/queues/${queue}/${jobIdOf(record)}`;
  expect((await ann.ask(job(anns))).status).toBe(200);
  const refused = await ann.ask(job(bens));
  expect([refused.status, refused.text.includes(bens.logId)]).toEqual([404, false]);
  expect((await operator.ask(job(bens))).status).toBe(200);
});

test("no other answer of the dashboard tells of another's job", async () => {
  const { as, runs, queue } = await stage();
  const ann = await as("ann");
  const bens = await runs((await as("ben")).id, "b");
  const paths = appRoutes.api
    .filter(({ method }) => [method].flat().some((verb) => verb === "get"))
    .flatMap(({ route }) => [route].flat())
    .map((path) => path.replace(":queueName", queue).replace(":jobId", jobIdOf(bens)).replace(/:\w+/, "x"));
  expect(paths.length).toBeGreaterThan(8);
  for (const path of paths) {
    const { status, text } = await ann.ask(path);
    // A queue's list has numbers of everybody's jobs, and no job.
    if (status === 200 && path !== "/api/queues") expect(`${path} ${text}`).not.toContain(bens.logId);
    expect(text, path).not.toContain(bens.logId);
  }
});

test("the queues of Editors that one may not use are not listed", async () => {
  const { system, as } = await stage();
  const other = await as("other", { editors: { allow: ["nothing@*"], deny: [] } });
  expect((await other.ask("/api/queues")).text).not.toContain(system.editor.editorId);
  expect((await (await as("ann")).ask("/api/queues")).text).toContain(system.editor.editorId);
});
