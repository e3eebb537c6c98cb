/**
 * A list of which only what can be seen is in the document, so that a hundred thousand rows scroll like fifty. It scrolls with
 * the page. One row is in the order of Tab; the arrow keys, Home and End go on from there.
 */
import { h } from "../h.js";

export interface VirtualListOptions<Item> {
  label: string;
  /** All rows have one height, px. */
  rowHeight(): number;
  keyOf(item: Item): string;
  /** What a row has in it: a link is its main part. */
  draw(item: Item): HTMLElement;
  /** The reader comes near the end of what is there. */
  onNearEnd(): void;
}

export interface VirtualList<Item> {
  element: HTMLElement;
  show(items: readonly Item[]): void;
  /** The rows that can be seen. */
  seen(): Item[];
  /** Is the first row in sight, or above the reader? */
  isAtTop(): boolean;
  focus(): void;
  onKey(event: KeyboardEvent): boolean;
  close(): void;
}

/** Rows drawn above and below what can be seen. */
const BEYOND = 8;
/** How many rows before the end more is asked for. */
const NEAR = 60;

export function createVirtualList<Item>(options: VirtualListOptions<Item>): VirtualList<Item> {
  const { label, rowHeight, keyOf, draw, onNearEnd } = options;
  const element = h("ol", { class: "virtual", role: "list", "aria-label": label });
  const drawn = new Map<string, { text: string; row: HTMLElement }>();
  let items: readonly Item[] = [];
  let [from, to] = [0, 0];
  let active = 0;
  let isPlanned = false;

  const render = (): void => {
    isPlanned = false;
    const height = rowHeight();
    element.style.setProperty("height", `${items.length * height}px`);
    const above = -element.getBoundingClientRect().top;
    from = Math.max(0, Math.floor(above / height));
    to = Math.min(items.length, Math.ceil((above + window.innerHeight) / height));
    const shown = new Set<string>();
    for (let at = Math.max(0, from - BEYOND); at < Math.min(items.length, to + BEYOND); at += 1)
      shown.add(place(at, height));
    for (const [key, { row }] of drawn) {
      if (shown.has(key)) continue;
      // What has the focus stays, or the keyboard would begin at the top again.
      if (row.contains(document.activeElement) && items.some((item) => keyOf(item) === key)) continue;
      row.remove();
      drawn.delete(key);
    }
    if (to + NEAR >= items.length) onNearEnd();
  };

  const place = (at: number, height: number): string => {
    const item = items[at] as Item;
    const [key, text] = [keyOf(item), JSON.stringify(item)];
    const known = drawn.get(key);
    let row = known?.row;
    if (!row || known?.text !== text) {
      const isFocused = row?.contains(document.activeElement);
      const next = h("li", {}, draw(item));
      if (row) row.replaceWith(next);
      else element.append(next);
      row = next;
      drawn.set(key, { text, row });
      if (isFocused) linkOf(row)?.focus();
    }
    row.style.setProperty("transform", `translateY(${at * height}px)`);
    row.setAttribute("aria-setsize", String(items.length));
    row.setAttribute("aria-posinset", String(at + 1));
    for (const link of row.querySelectorAll("a")) link.tabIndex = -1;
    const link = linkOf(row);
    if (link) link.tabIndex = at === active ? 0 : -1;
    return key;
  };

  const plan = (): void => {
    if (isPlanned) return;
    isPlanned = true;
    window.requestAnimationFrame(render);
  };

  const activate = (at: number): void => {
    if (items.length === 0) return;
    active = Math.max(0, Math.min(items.length - 1, at));
    const height = rowHeight();
    const top = element.getBoundingClientRect().top + active * height;
    const header = document.querySelector("header")?.getBoundingClientRect().bottom ?? 0;
    if (top < header + height) window.scrollBy(0, top - header - height);
    else if (top + 2 * height > window.innerHeight) window.scrollBy(0, top + 2 * height - window.innerHeight);
    render();
    const row = drawn.get(keyOf(items[active] as Item))?.row;
    if (row) linkOf(row)?.focus();
  };

  element.addEventListener("focusin", ({ target }) => {
    const row = (target as Element).closest("li");
    const at = Number(row?.getAttribute("aria-posinset") ?? 0) - 1;
    if (at >= 0) active = at;
  });
  window.addEventListener("scroll", plan, { passive: true });
  window.addEventListener("resize", plan);

  return {
    element,
    show(next) {
      items = next;
      active = Math.min(active, Math.max(0, items.length - 1));
      render();
    },
    seen: () => items.slice(from, to),
    isAtTop: () => from === 0,
    focus: () => activate(active),
    onKey({ key }) {
      const isHere = element.contains(document.activeElement);
      const step: Record<string, number> = {
        ArrowDown: active + 1,
        j: active + 1,
        ArrowUp: active - 1,
        k: active - 1,
        Home: 0,
        End: items.length - 1,
      };
      const wanted = step[key];
      if (wanted === undefined || (!isHere && key !== "j" && key !== "k")) return false;
      activate(isHere ? wanted : active);
      return true;
    },
    close() {
      window.removeEventListener("scroll", plan);
      window.removeEventListener("resize", plan);
    },
  };
}

function linkOf(row: Element): HTMLAnchorElement | null {
  return row.querySelector("a");
}
