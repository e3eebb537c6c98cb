/**
 * The jobs as the dashboard shows them: operation, tool, Editor and state. Never arguments, results or the caller: access
 * to the dashboard is not access to other principals' arguments and results.
 */
import type { OperationRecord } from "../../shared/operation/operation.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";

/** A job as Bull Board answers it; fields not listed here pass unchanged. */
interface BoardJob {
  data: unknown;
  progress?: unknown;
  returnValue?: unknown;
}

/** Only the operation's id from a job's data; a job that was added manually may hold anything. */
export function shownData(data: unknown): { operation?: string } {
  const { logId } = asObject(data);
  return typeof logId === "string" ? { operation: logId } : {};
}

/** Only the result of a job from what a worker returned. */
export function shownReturn(returned: unknown): { processed?: string } {
  const { processed } = asObject(returned);
  return typeof processed === "string" ? { processed } : {};
}

/** How far an operation has come, percent, as its tool reported last; undefined if it did not say of how much. */
async function progressOf(operations: Pick<Operations, "live">, logId: string): Promise<number | undefined> {
  const { progress } = await operations.live(logId);
  if (!progress?.total || progress.total < 0) return undefined;
  return Math.max(0, Math.min(100, Math.floor((100 * progress.progress) / progress.total)));
}

/** A principal that may not see everybody's operations. */
export interface Viewer {
  isOwn(record: OperationRecord): boolean;
  seesQueue(name: string): boolean;
}

/**
 * Completes every job in an answer of Bull Board's API from its operation's record. A `viewer` sees only the jobs of its
 * own operations in the queues of its Editors; undefined sees everything.
 */
export async function describeJobs<Answer extends { body: string | object; status?: number | undefined }>(
  answer: Answer,
  operations: Pick<Operations, "find" | "live">,
  viewer?: Viewer | undefined,
): Promise<Answer> {
  const { queues = [], job } = answer.body as {
    queues?: { name: string; jobs: BoardJob[] }[];
    job?: BoardJob;
  };
  const describe = async (shown: BoardJob): Promise<BoardJob[]> => {
    const { operation } = shown.data as { operation?: string };
    const record = operation === undefined ? undefined : await operations.find(operation);
    if (viewer && !(record && viewer.isOwn(record))) return [];
    if (!record) return [{ ...shown, data: { operation, known: false } }];
    const progress = await progressOf(operations, record.logId);
    return [{ ...shown, ...(progress === undefined ? {} : { progress }), data: shownOperation(record) }];
  };
  if (job) {
    const [described] = await describe(job);
    return described ? { ...answer, body: { ...(answer.body as object), job: described } } : notFound(answer);
  }
  if (queues.length === 0) return viewer && !isQueueList(answer.body) ? notFound(answer) : answer;
  const described = queues
    .filter(({ name }) => !viewer || viewer.seesQueue(name))
    .map(async (queue) => ({
      ...queue,
      jobs: (await Promise.all(queue.jobs.map(describe))).flat(),
    }));
  return { ...answer, body: { ...(answer.body as object), queues: await Promise.all(described) } };
}

function isQueueList(body: string | object): boolean {
  return typeof body === "object" && Array.isArray((body as { queues?: unknown }).queues);
}

/** The answer for another principal's job, and for one that never existed. */
function notFound<Answer extends { body: string | object; status?: number | undefined }>(
  answer: Answer,
): Answer {
  return { ...answer, status: 404, body: { error: "Job not found" } };
}

function shownOperation(record: OperationRecord) {
  const time = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  return {
    operation: record.logId,
    tool: record.tool,
    editor: record.editor,
    state: record.state,
    effect: record.effect,
    accepted: time(record.acceptedAt),
    sent: time(record.dispatchedAt),
    started: time(record.startedAt),
    ended: time(record.endedAt),
    executionMs: record.executionMs,
    error: record.error?.code,
  };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
