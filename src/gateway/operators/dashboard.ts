/** /dashboard: Bull Board, read-only. board-jobs.ts decides what jobs show. */
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FastifyAdapter } from "@bull-board/fastify";
import type { FastifyInstance } from "fastify";
import { hasRole, type Principal } from "../../shared/principal.js";
import type { Store } from "../../shared/store/store.js";
import { seesEditor } from "../auth/authenticator.js";
import { describeJobs, shownData, shownReturn, type Viewer } from "./board-jobs.js";

export interface DashboardOptions {
  prefix: string;
  store: Pick<Store, "queues" | "editors" | "operations" | "pools">;
}

/** Only the page's own parts, for the operator's privacy and for offline use. */
const CONTENT_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";
const FOREIGN_FONTS = /<link href="https:\/\/fonts\.googleapis\.com[^>]*>/;

/** Serves below `prefix`; the caller guards it. A principal that may not `operate` sees only its own operations' jobs. */
export async function dashboard(
  app: FastifyInstance,
  { prefix: path, store }: DashboardOptions,
): Promise<void> {
  const adapter = new FastifyAdapter().setBasePath(path);

  /** By the request's headers, which are all that Bull Board passes on. */
  const askers = new WeakMap<object, Principal>();

  const lanes = async (): Promise<BullMQAdapter[]> => {
    const [editors, pools] = await Promise.all([store.editors.ids(), store.pools.ids()]);
    return [...editors, ...pools].flatMap((owner) => store.queues.lanesOf(owner)).map(toLookAt);
  };
  const board = createBullBoard({
    queues: [],
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: "Unity Job Broker",
        hideDocsLink: true,
        pollingInterval: { showSetting: true },
      },
      handlerHooks: {
        // Editors come and go: every answer is about the Editors known now.
        before: async () => board.replaceQueues(await lanes()),
        after({ request }, answer) {
          const asking = askers.get(request.headers);
          const viewer = asking && hasRole(asking, "operate") ? undefined : viewerOf(asking);
          return describeJobs(answer, store.operations, viewer);
        },
      },
    },
  });

  // Bull Board's readOnlyMode refuses changes to one queue, but not changes to all of them.
  app.addHook("onRequest", async (request, reply) => {
    askers.set(request.headers, request.identity.principal);
    if (request.method === "GET" || request.method === "HEAD") return undefined;
    return reply
      .code(405)
      .header("allow", "GET, HEAD")
      .send({ error: "The dashboard is read-only. Use the tools or the command line." });
  });
  app.addHook("onSend", async (_request, reply, payload) => {
    reply.header("content-security-policy", CONTENT_POLICY);
    return typeof payload === "string" ? payload.replace(FOREIGN_FONTS, "") : payload;
  });
  await app.register(adapter.registerPlugin());
}

function viewerOf(principal: Principal | undefined): Viewer {
  const sees = principal ? seesEditor(principal) : () => false;
  return {
    isOwn: (record) => record.principal === principal?.id,
    // <Editor>.<lane>
    seesQueue: (name) => sees(name.slice(0, name.lastIndexOf("."))),
  };
}

/** Read-only, and without anything that a job holds besides its operation. */
function toLookAt(queue: ConstructorParameters<typeof BullMQAdapter>[0]): BullMQAdapter {
  const adapter = new BullMQAdapter(queue, { readOnlyMode: true });
  adapter.setFormatter("data", shownData);
  adapter.setFormatter("returnValue", shownReturn);
  // An operation's is told with its record (board-jobs.ts).
  adapter.setFormatter("progress", () => 0);
  return adapter;
}
