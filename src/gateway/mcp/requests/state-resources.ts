/** Editors and operations as MCP resources: what they are and do now, as JSON, without a result. */
import { answerOf } from "../../../shared/operation/answer.js";
import type { Broker } from "../../broker.js";
import type { OpenRequest } from "../request-tracker.js";
import { UUID } from "../tools/broker-tool.js";
import { shownEditors } from "../tools/shown-editors.js";

const EDITORS = "unity-broker://editors";
const OPERATIONS = "unity-broker://operations";

export const EDITOR_TEMPLATE = `${EDITORS}/{editor}`;
export const OPERATION_TEMPLATE = `${OPERATIONS}/{log_id}`;

const URI = /^unity-broker:\/\/(editors|operations)(?:\/([^/?#]+))?$/;

export interface StateRead {
  principal: string;
  uri: string;
  request: Pick<OpenRequest, "names">;
}

/** Resources that there always are. */
export const STATE_RESOURCES = [
  { uri: EDITORS, name: "editors", title: "Unity Editors", mimeType: "application/json" },
  {
    uri: OPERATIONS,
    name: "operations",
    title: "Your operations, newest first",
    mimeType: "application/json",
  },
];

export const STATE_TEMPLATES = [
  {
    uriTemplate: EDITOR_TEMPLATE,
    name: "editor",
    title: "A Unity Editor",
    description: "Connected or not, and what it does now. The id is that of list_editors.",
    mimeType: "application/json",
  },
  {
    uriTemplate: OPERATION_TEMPLATE,
    name: "operation",
    title: "State of an operation",
    description: "As get_operation_status answers it.",
    mimeType: "application/json",
  },
];

const LISTED = 20;

/** The operation whose state an address names; undefined if it names none. */
export function namedOperation(uri: string): string | undefined {
  const [, kind, id] = URI.exec(uri) ?? [];
  return kind === "operations" ? id : undefined;
}

/** Undefined if it is not the address of such a resource, or there is none of the principal's. */
export async function readState(broker: Broker, { principal, uri, request }: StateRead): Promise<unknown> {
  const [, kind, id] = URI.exec(uri) ?? [];
  if (kind === "editors") {
    const { connected: _, ...shown } = await shownEditors(broker, principal);
    return id === undefined ? shown : shown.editors.find((editor) => editor.id === decoded(id));
  }
  if (kind !== "operations") return undefined;
  if (id === undefined) {
    const views = await broker.list(principal, LISTED);
    return { operations: views.map((view) => answerOf(view, { brief: true })) };
  }
  if (!UUID.test(id)) return undefined;
  // Read (▲7): a caller that names a log_id has read what was delivered to it before.
  await request.names(id);
  const view = await broker.read(principal, id);
  return typeof view === "object" ? answerOf(view, { brief: true }) : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
