/** A state: its shape and its word. */
import { h, svg } from "../h.js";
import { lookOf } from "../states.js";

export function stateBadge(state: string): HTMLElement {
  const { word, tone } = lookOf(state);
  return h("span", { class: `state tone-${tone}`, "data-state": state }, stateShape(state), word);
}

export function stateShape(state: string): SVGSVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", class: `shape${state === "running" ? " filled" : ""}`, "aria-hidden": "true" },
    svg("path", { d: lookOf(state).shape }),
  );
}

export function shape(path: string): SVGSVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", class: "shape", "aria-hidden": "true" },
    svg("path", { d: path }),
  );
}
