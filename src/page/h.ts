/** Elements. Every text becomes a text node: names of tools, Editors and clients are chosen by others. */

export type Child = Node | string | number | false | null | undefined;

type Value = string | number | boolean | null | undefined;
type Listener = (event: never) => void;

/** `on…`: a listener; `style`: by property, as the content policy allows no style attribute; the rest are attributes. */
export interface Props {
  [attribute: string]: Value | Listener | Readonly<Record<string, string>>;
}

const SVG = "http://www.w3.org/2000/svg";

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  return filled(document.createElement(tag), props, children);
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled<E extends HTMLElement | SVGElement>(element: E, props: Props, children: Child[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (typeof value === "object")
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Shows these in place of what was there; what has the focus keeps it, if it is there again under its `data-focus`. */
export function replace(parent: Element, ...children: Child[]): void {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const name = focused?.getAttribute("data-focus");
  parent.replaceChildren();
  append(parent, children);
  if (name) parent.querySelector<HTMLElement>(`[data-focus="${CSS.escape(name)}"]`)?.focus();
}

/** A list whose unchanged entries stay the same elements. */
export function createKeyed<Item>(
  parent: Element,
  keyOf: (item: Item) => string,
  draw: (item: Item) => Element,
): (items: readonly Item[]) => void {
  const shown = new Map<string, { text: string; element: Element }>();
  return (items) => {
    const keys = new Set(items.map(keyOf));
    for (const [key, { element }] of shown) {
      if (keys.has(key)) continue;
      element.remove();
      shown.delete(key);
    }
    let at: Element | null = parent.firstElementChild;
    for (const item of items) {
      const [key, text] = [keyOf(item), JSON.stringify(item)];
      const known = shown.get(key);
      let element = known?.element;
      if (!known || known.text !== text) {
        const drawn = draw(item);
        if (element) {
          if (at === element) at = drawn;
          exchange(element, drawn);
        }
        element = drawn;
        shown.set(key, { text, element });
      }
      if (element === at) at = element?.nextElementSibling ?? null;
      else if (element) parent.insertBefore(element, at);
    }
  };
}

/** The new one keeps the focus, and what was opened. */
function exchange(before: Element, after: Element): void {
  const focused = before.contains(document.activeElement)
    ? document.activeElement?.getAttribute("data-focus")
    : undefined;
  const opened = [...before.querySelectorAll("details[open]")].map((each) => each.getAttribute("data-name"));
  for (const each of after.querySelectorAll("details"))
    if (opened.includes(each.getAttribute("data-name"))) each.open = true;
  before.replaceWith(after);
  if (focused) after.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
}
