/** Editors: what each does, what waits for it, and what keeps it from working. Those that need somebody come first. */
import { addressOf } from "../address.js";
import { get } from "../api.js";
import { count } from "../format.js";
import { createKeyed, h, replace } from "../h.js";
import { type Editor, type Editors, hasRole, type Rows, type Worker } from "../model.js";
import { nothing, type Page, refused, type View } from "../view.js";
import { editorRow } from "./editor-row.js";
import { type EditorStanding, STANDINGS, standingOf } from "./editor-standing.js";
import { withRunning } from "./running-row.js";

type Shown = Editor & { standing: EditorStanding };

export function editorsView(page: Page, query: URLSearchParams): View {
  const search = h("input", {
    type: "search",
    name: "q",
    placeholder: "Project, id, label, phase",
    "aria-label": "Search Editors",
    "aria-keyshortcuts": "/",
    value: query.get("q") ?? "",
    oninput: () => {
      const text = search.value.trim();
      page.go(addressOf("editors", new URLSearchParams(text === "" ? {} : { q: text })), "replace");
      draw();
    },
  });
  const summary = h("p", { class: "summary" });
  const list = h("ul", { class: "editors" });
  const empty = h("div");
  const mayOperate = hasRole(page.me, "operate");
  let known: Shown[] | undefined;
  let unreached: NonNullable<Editors["unreached"]> = [];
  const refusing = h("p", { class: "diagnosis", role: "alert", hidden: true });

  const refresh = async (): Promise<void> => {
    try {
      const query = new URLSearchParams({
        state: "running",
        limit: "100",
        ...(mayOperate ? { principal: "*" } : {}),
      });
      const [answer, { operations }, { workers }] = await Promise.all([
        get<Editors>("/editors"),
        get<Rows>("/operations", query),
        get<{ workers: Worker[] }>("/workers"),
      ]);
      const hosts = new Map(workers.flatMap(({ host, editors }) => editors.map(({ id }) => [id, host])));
      known = answer.editors
        .map((editor) => ({ ...withRunning(editor, operations), host: hosts.get(editor.id) }))
        .map((editor) => ({ ...editor, standing: standingOf(editor) }))
        .sort((a, b) => rank(a) - rank(b) || a.project.localeCompare(b.project) || a.id.localeCompare(b.id));
      unreached = answer.unreached ?? [];
      refusing.hidden = answer.refuses_calls === undefined;
      replace(refusing, `No call is accepted. ${answer.refuses_calls?.message}`);
      draw();
    } catch (error) {
      if (!known) replace(empty, refused(error));
      throw error;
    }
  };
  const update = createKeyed<Shown>(
    list,
    ({ id }) => id,
    (editor) => editorRow(editor, editor.standing, { mayOperate, refresh }),
  );
  const draw = (): void => {
    if (!known) return;
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = known.filter((editor) => words.every((word) => textOf(editor).includes(word)));
    update(wanted);
    replace(summary, ...summaryOf(known, wanted.length));
    replace(
      empty,
      ...unreached.map(({ id, project, diagnosis }) =>
        h(
          "div",
          { class: "editor unreached" },
          h("div", { class: "editor-name" }, h("strong", {}, project), h("span", { class: "id" }, id)),
          h("p", { class: "diagnosis" }, `${diagnosis.message} ${diagnosis.next}`),
        ),
      ),
      known.length + unreached.length === 0 &&
        nothing(
          "No Editor is known.",
          "Open a project with the bridge installed, or start a simulated one: unity-broker simulate",
        ),
      known.length > 0 && wanted.length === 0 && nothing("No Editor has all of these words."),
    );
  };

  return {
    title: "Editors",
    search,
    refresh,
    // Heartbeats are no events: phases, progress and memory are asked for.
    everyMs: 2_000,
    element: h(
      "section",
      { "aria-labelledby": "title" },
      h("div", { class: "heading" }, h("h1", { id: "title" }, "Editors"), summary, search),
      refusing,
      list,
      empty,
    ),
  };
}

function rank({ standing }: Shown): number {
  return STANDINGS.findIndex(({ is }) => is === standing);
}

function textOf({
  id,
  project,
  labels = [],
  phase = "",
  unity_version = "",
  standing,
  host = "",
}: Shown): string {
  return [id, project, ...labels, phase, unity_version, standing, host].join(" ").toLowerCase();
}

function summaryOf(editors: readonly Shown[], shown: number): (HTMLElement | string)[] {
  const parts = STANDINGS.map(({ is, word }) => ({
    word,
    is,
    number: editors.filter(({ standing }) => standing === is).length,
  })).filter(({ number }) => number > 0);
  const all =
    shown === editors.length ? count(shown, "Editor") : `${shown} of ${count(editors.length, "Editor")}`;
  return [
    h("span", {}, all),
    ...parts.map(({ word, number, is }) =>
      h(
        "span",
        { class: `standing standing-${is}` },
        h("b", { class: `number ${is}` }, String(number)),
        ` ${word}`,
      ),
    ),
  ];
}
