/** A client whose every answer is compared with the document. */
import type { Contract } from "./contract.js";
import { type RestClient, restClient } from "./rest-client.js";

export function observedClient(
  contract: Contract,
  origin: string,
  always: Record<string, string> = {},
): RestClient {
  const plain = restClient(origin, always);
  const ask: RestClient["ask"] = async (method, path, asked) => {
    const said = await plain.ask(method, path, asked);
    contract.observe(method, path, said);
    return said;
  };
  const post: RestClient["post"] = (path, body, asked) => ask("POST", path, { ...asked, body });
  return {
    ask,
    post,
    get: (path, asked) => ask("GET", path, asked),
    call: (tool, args, more = {}) => post("/operations", { tool, arguments: args, timeout: 30, ...more }),
  };
}
