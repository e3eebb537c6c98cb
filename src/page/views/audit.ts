/** The audit log of a day: who called what, where. */
import { addressOf, operationAddress } from "../address.js";
import { get, now } from "../api.js";
import { clock, count, idParts } from "../format.js";
import { h, replace } from "../h.js";
import type { AuditEntry } from "../model.js";
import { nothing, type Page, refused, type View } from "../view.js";

/** The newest of a day: what is older is found by its words. */
const MOST = 500;

export function auditView(page: Page, query: URLSearchParams): View {
  const today = new Date(now()).toISOString().slice(0, 10);
  const body = h("div");
  const summary = h("p", { class: "summary" });
  let entries: AuditEntry[] | undefined;
  const change = (): void => {
    const next = new URLSearchParams();
    if (day.value !== "" && day.value !== today) next.set("day", day.value);
    if (search.value.trim() !== "") next.set("q", search.value.trim());
    page.go(addressOf("audit", next), "replace");
  };
  const day = h("input", {
    type: "date",
    "aria-label": "Day (UTC)",
    max: today,
    value: query.get("day") ?? today,
    onchange: () => {
      change();
      void refresh();
    },
  });
  const search = h("input", {
    type: "search",
    "aria-label": "Search the audit log",
    "aria-keyshortcuts": "/",
    placeholder: "Name, tool, Editor, answer",
    value: query.get("q") ?? "",
    oninput: () => {
      change();
      draw();
    },
  });
  const refresh = async (): Promise<void> => {
    try {
      const answer = await get<{ entries: AuditEntry[] }>(
        "/audit",
        new URLSearchParams({ day: day.value || today }),
      );
      entries = answer.entries.reverse();
      draw();
    } catch (error) {
      entries = undefined;
      replace(summary);
      replace(body, refused(error));
    }
  };
  const draw = (): void => {
    if (!entries) return;
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = entries.filter((entry) => {
      const text = Object.values(entry).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const more = wanted.length > MOST ? `; the newest ${MOST} are shown` : "";
    replace(summary, `${count(wanted.length, "entry", "entries")}${more}`);
    replace(body, wanted.length === 0 ? emptyOf(entries.length) : table(wanted.slice(0, MOST)));
  };
  const emptyOf = (noted: number): HTMLElement =>
    noted === 0
      ? nothing(`Nothing was noted on ${day.value || today} (UTC).`, "Choose another day above.")
      : nothing(`None of this day's ${count(noted, "entry", "entries")} has all of these words.`);
  return {
    title: "Audit",
    search,
    refresh,
    everyMs: 10_000,
    element: h(
      "section",
      { "aria-labelledby": "title" },
      h("div", { class: "heading" }, h("h1", { id: "title" }, "Audit"), summary, day, search),
      body,
    ),
  };
}

const HEADS = ["Time", "Who", "Did", "Tool", "Editor", "Answer", "Operation"];

function table(entries: readonly AuditEntry[]): HTMLElement {
  return h(
    "table",
    { class: "table" },
    h("thead", {}, h("tr", {}, ...HEADS.map((text) => h("th", { scope: "col" }, text)))),
    h(
      "tbody",
      {},
      ...entries.map(({ at, name, principal, verb, tool, editor, answer, error_code, log_id }) =>
        h(
          "tr",
          {},
          h("td", { class: "number" }, clock(at)),
          h("td", { title: principal }, name || principal),
          h("td", {}, verb),
          h("td", {}, tool ?? ""),
          h("td", { title: editor ?? "" }, idParts(editor ?? "").name),
          h(
            "td",
            { class: answer === "refused" ? "bad" : "" },
            [answer, error_code].filter(Boolean).join(": "),
          ),
          h(
            "td",
            {},
            log_id === undefined
              ? ""
              : h("a", { href: operationAddress(log_id), class: "id" }, log_id.slice(0, 8)),
          ),
        ),
      ),
    ),
  );
}
