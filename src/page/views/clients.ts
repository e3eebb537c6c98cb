/** The MCP clients that are connected. */
import { get } from "../api.js";
import { count } from "../format.js";
import { h, replace } from "../h.js";
import { type Client, hasRole, type Me } from "../model.js";
import { ago } from "../parts/time.js";
import { nothing, type Page, refused, type View } from "../view.js";

export function clientsView({ me }: Page): View {
  const body = h("div");
  const summary = h("p", { class: "summary" });
  return {
    title: "Clients",
    everyMs: 5_000,
    async refresh() {
      try {
        const { clients } = await get<{ clients: Client[] }>("/clients");
        replace(
          summary,
          `${count(clients.length, "client")} connected${hasRole(me, "operate") ? "" : " of yours"}`,
        );
        replace(
          body,
          clients.length === 0
            ? nothing(
                "No MCP client is connected.",
                "It is shown here while it runs: unity-broker install --help names the clients. REST calls have no connection.",
              )
            : table(clients, me),
        );
      } catch (error) {
        if (body.childElementCount === 0) replace(body, refused(error));
      }
    },
    element: h(
      "section",
      { "aria-labelledby": "title" },
      h("div", { class: "heading" }, h("h1", { id: "title" }, "Clients"), summary),
      body,
    ),
  };
}

function table(clients: readonly Client[], me: Me): HTMLElement {
  const heads = ["Client", "Version", "Transport", "Principal", "Connected"];
  return h(
    "table",
    { class: "table" },
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))),
    h(
      "tbody",
      {},
      ...clients.map(({ name, version, transport, principal = me.name, since }) =>
        h(
          "tr",
          {},
          ...[h("strong", {}, name), version, transport, principal, ago(since)].map((cell) =>
            h("td", {}, cell),
          ),
        ),
      ),
    ),
  );
}
