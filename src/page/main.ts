/** The page: what is around every view, and which view an address shows. */
import { type Place, placeOf } from "./address.js";
import { get, logOut } from "./api.js";
import { onConnection } from "./connection.js";
import { clock } from "./format.js";
import { h, replace } from "./h.js";
import { createLive } from "./live.js";
import { hasRole, type Me } from "./model.js";
import { themeSwitch } from "./parts/theme.js";
import { keepTime } from "./parts/time.js";
import { type Page, refused, type View } from "./view.js";
import { auditView } from "./views/audit.js";
import { clientsView } from "./views/clients.js";
import { editorsView } from "./views/editors.js";
import { operationView } from "./views/operation.js";
import { operationsView } from "./views/operations.js";
import { poolsView } from "./views/pools.js";

const NAMES = [
  ["editors", "Editors"],
  ["operations", "Operations"],
  ["pools", "Pools"],
  ["clients", "Clients"],
  ["audit", "Audit"],
] as const;

const WORDS = {
  connecting: "Connecting",
  live: "Live",
  asking: "Every 2 s",
  paused: "Paused",
  lost: "Connection lost",
} as const;

function frame(
  me: Me,
  live: Pick<ReturnType<typeof createLive>, "close">,
): { main: HTMLElement; mark(view: string): void } {
  const links = new Map(
    NAMES.filter(([view]) => view !== "audit" || hasRole(me, "admin")).map(([view, name]) => [
      view as string,
      h("a", { href: `/operators/${view}` }, name),
    ]),
  );
  const status = h("span", { class: "connection", role: "status" });
  const banner = h("div", { class: "banner", role: "alert", hidden: true });
  onConnection(({ is, since }) => {
    status.dataset.is = is;
    replace(status, h("span", { class: "dot", "aria-hidden": "true" }), WORDS[is]);
    banner.hidden = is !== "lost";
    replace(
      banner,
      `Connection lost since ${clock(since)}. What is shown is from before; the page tries again.`,
    );
  });
  const main = h("main", { id: "main", tabindex: -1 });
  const leave = (): void => {
    live.close();
    void logOut();
  };
  const out = h("button", { type: "button", class: "plain", onclick: leave }, "Log out");
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main" }, "Skip to the content"),
    h(
      "header",
      { class: "top" },
      h(
        "a",
        { class: "brand", href: "/operators/editors" },
        h("span", { class: "wide" }, "Unity "),
        "Job Broker",
      ),
      h("nav", { "aria-label": "Views" }, ...links.values()),
      h(
        "div",
        { class: "aside" },
        status,
        themeSwitch(),
        h(
          "span",
          { class: "who", title: `Role: ${me.role}` },
          me.name,
          h("span", { class: "quiet" }, me.role),
        ),
        document.documentElement.dataset.login === "yes" && out,
      ),
    ),
    banner,
    main,
    h("div", { id: "said", role: "status", "aria-live": "polite" }),
  );
  return {
    main,
    mark: (view) => {
      for (const [name, link] of links)
        if (name === view) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    },
  };
}

function viewOf(place: Place, page: Page): View {
  switch (place.view) {
    case "operation":
      return operationView(page, place.logId);
    case "operations":
      return operationsView(page, place.query);
    case "pools":
      return poolsView(page);
    case "clients":
      return clientsView(page);
    case "audit":
      return auditView(page, place.query);
    default:
      return editorsView(page, place.query);
  }
}

async function start(): Promise<void> {
  let me: Me;
  try {
    me = await get<Me>("/me");
  } catch (error) {
    document.body.replaceChildren(h("main", {}, refused(error)));
    window.setTimeout(() => void start(), 3_000);
    return;
  }
  const live = createLive();
  const { main, mark } = frame(me, live);
  let view: View | undefined;

  const show = (): void => {
    view?.close?.();
    const place = placeOf(location.pathname, location.search);
    view = viewOf(place, page);
    mark(place.view === "operation" ? "operations" : place.view);
    document.title = `${view.title} · Unity Job Broker`;
    replace(main, view.element);
    window.scrollTo(0, 0);
    live.watch(view);
  };
  const page: Page = {
    me,
    go(address, how = "push") {
      history[how === "push" ? "pushState" : "replaceState"](null, "", address);
      if (how === "push") show();
    },
  };

  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest("a");
    if (
      !link ||
      event.defaultPrevented ||
      event.button !== 0 ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey
    )
      return;
    const { origin, pathname, search, hash } = new URL(link.href);
    if (origin !== location.origin || !pathname.startsWith("/operators") || hash !== "") return;
    event.preventDefault();
    page.go(`${pathname}${search}`);
  });
  document.addEventListener("keydown", (event) => onKey(event, view));
  window.addEventListener("popstate", show);
  keepTime();
  show();
}

function onKey(event: KeyboardEvent, view: View | undefined): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target as HTMLElement;
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  if (event.key === "Escape") {
    const open = target.closest<HTMLDetailsElement>("details[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary")?.focus();
    } else if (isTyping) target.blur();
    return;
  }
  if (isTyping || document.querySelector("dialog[open]")) return;
  if (event.key === "/" && view?.search) view.search.focus();
  else if (!view?.onKey?.(event)) return;
  event.preventDefault();
}

void start();
