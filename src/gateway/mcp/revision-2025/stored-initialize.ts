/** The parts of a client's `initialize` that its server reads, kept for a gateway that adopts the session. */
import {
  type ClientCapabilities,
  type InitializeRequest,
  isInitializeRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { head } from "../../../shared/printable.js";

/** Most UTF-8 bytes of an `initialize` request; a larger one is refused. */
export const MOST_INITIALIZE_BYTES = 64 * 1024;

/** Most characters of a name that a client gives itself. */
const MOST_NAME = 200;

/** The request without additional fields; undefined if it is not an initialize request. */
export function storedInitialize(request: unknown): InitializeRequest | undefined {
  if (!isInitializeRequest(request)) return undefined;
  const { protocolVersion, clientInfo, capabilities } = request.params;
  const { roots, sampling, elicitation, tasks } = capabilities;
  return {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: head(protocolVersion, MOST_NAME),
      clientInfo: {
        name: head(clientInfo.name, MOST_NAME),
        version: head(clientInfo.version, MOST_NAME),
      },
      capabilities: {
        ...(roots ? { roots: { listChanged: roots.listChanged === true } } : {}),
        ...(sampling ? { sampling: {} } : {}),
        ...storedElicitation(elicitation),
        ...(tasks ? { tasks: {} } : {}),
      },
    },
  } as InitializeRequest;
}

/** An empty one means forms. One with neither forms nor links allows no questions, but stored as {} would mean forms. */
function storedElicitation(
  elicitation: ClientCapabilities["elicitation"],
): Pick<ClientCapabilities, "elicitation"> {
  if (!elicitation) return {};
  const isEmpty = Object.keys(elicitation).length === 0;
  const kept = {
    ...(elicitation.form || isEmpty ? { form: {} } : {}),
    ...(elicitation.url ? { url: {} } : {}),
  };
  return Object.keys(kept).length === 0 ? {} : { elicitation: kept };
}
