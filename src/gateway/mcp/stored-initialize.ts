/** What is kept of a client's `initialize` for a gateway that takes its session over: what its server looks at. */
import { type InitializeRequest, isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";

/** UTF-8 bytes of an `initialize` request; one that is larger is refused. */
export const MOST_INITIALIZE_BYTES = 64 * 1024;

/** Of a name that a client gives itself. */
const MOST_NAME = 200;

/** The request, without what a client may have put beside that; undefined: it is none. */
export function storedInitialize(request: unknown): InitializeRequest | undefined {
  if (!isInitializeRequest(request)) return undefined;
  const { protocolVersion, clientInfo, capabilities } = request.params;
  const { roots, sampling, elicitation } = capabilities;
  return {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: protocolVersion.slice(0, MOST_NAME),
      clientInfo: {
        name: clientInfo.name.slice(0, MOST_NAME),
        version: clientInfo.version.slice(0, MOST_NAME),
      },
      capabilities: {
        ...(roots ? { roots: { listChanged: roots.listChanged === true } } : {}),
        ...(sampling ? { sampling: {} } : {}),
        ...(elicitation
          ? {
              elicitation: {
                ...(elicitation.form ? { form: {} } : {}),
                ...(elicitation.url ? { url: {} } : {}),
              },
            }
          : {}),
      },
    },
  } as InitializeRequest;
}
