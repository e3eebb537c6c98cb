/** The story of an operation as a chart: one bar for its execution, one line for each call, on one axis of time. */
import { clock, duration } from "../format.js";
import { type Child, h, svg } from "../h.js";
import { shape } from "../parts/state.js";
import { hasEnded, lookOf } from "../states.js";
import { type Scale, scaleOf } from "./scale.js";
import type { Lane, Mark, Segment, Story } from "./story.js";

/** More lanes than these are counted instead. */
const MOST_LANES = 24;

/** The part of the axis that a letter takes, on a desk; a bar that is too short for its text has it where the pointer rests. */
const LETTER = 0.0085;

const SEGMENTS: Readonly<Record<Segment["kind"], string>> = {
  waited: "waited in the queue",
  sent: "sent to the Editor",
  ran: "ran",
};

const RELATIONS: Readonly<Record<Lane["call"]["relation"], { word: string; shape: string }>> = {
  created: { word: "created it", shape: "M8 3.5v9M3.5 8h9" },
  joined: { word: "joined it", shape: "M3 8h9.4M8.6 4.4L12.4 8L8.6 11.6" },
  replayed: { word: "got its outcome", shape: "M12.5 5A5 5 0 1 0 13 9M12.8 2.6V5.2H10.2" },
  read: {
    word: "read it",
    shape: "M2.5 8c3-4.6 8-4.6 11 0c-3 4.6-8 4.6-11 0M8 6.7a1.3 1.3 0 1 0 0 2.6a1.3 1.3 0 1 0 0-2.6",
  },
};

export function chart(story: Story, state: string): HTMLElement {
  const scale = scaleOf(story.times, story.end);
  const shown = story.lanes.slice(0, MOST_LANES);
  const hidden = story.lanes.length - shown.length;
  return h(
    "figure",
    { class: `story tone-${lookOf(state).tone}` },
    h(
      "div",
      { class: "story-chart", role: "img", "aria-label": summaryOf(story, state) },
      ...guides(scale),
      lane(
        "execution",
        [h("b", {}, executionName(story, state))],
        [
          ...story.segments.map((segment) => bar(segment, scale, state, story.ranMs)),
          ...story.marks.map((mark) => markOf(mark, scale)),
          endMark(story, scale, state),
        ],
      ),
      ...shown.map((each, index) => callLane(each, index, scale, story)),
      hidden > 0 && lane("more", [`${hidden} more`], []),
      axis(scale),
    ),
    h("figcaption", { class: "legend" }, ...legend(story)),
  );
}

function executionName({ began }: Story, state: string): string {
  if (state === "interrupted") return "Outcome unknown";
  if (!began)
    return hasEnded(state) && state !== "completed" && state !== "failed"
      ? "Never began"
      : hasEnded(state)
        ? "Execution"
        : "Not begun yet";
  return "One execution";
}

function lane(kind: string, name: Child[], track: Child[]): HTMLElement {
  return h(
    "div",
    { class: `lane lane-${kind}` },
    h("div", { class: "lane-name" }, ...name),
    h("div", { class: "track" }, ...track),
  );
}

function bar({ kind, from, to }: Segment, scale: Scale, state: string, ranMs = to - from): HTMLElement {
  const left = scale.at(from);
  const width = scale.at(to) - left;
  const open = kind === "ran" && !hasEnded(state) ? " open" : "";
  const ms = kind === "ran" && open === "" ? ranMs : to - from;
  const text = `${open === "" ? SEGMENTS[kind] : "running for"} ${duration(ms)}`;
  return h(
    "span",
    {
      class: `segment segment-${kind}${open}`,
      title: text,
      style: { left: percent(left), width: percent(width) },
    },
    width > LETTER * (text.length + 2) && h("span", { class: "segment-text" }, text),
  );
}

function markOf({ at, kind, text }: Mark, scale: Scale): HTMLElement {
  return h("span", {
    class: `tick tick-${kind}`,
    title: `${clock(at, true)} ${text}`,
    style: { left: percent(scale.at(at)) },
  });
}

function endMark({ end }: Story, scale: Scale, state: string): Child {
  if (!hasEnded(state)) return undefined;
  const { word, shape: path } = lookOf(state);
  return h(
    "span",
    { class: "end", title: `${word} ${clock(end, true)}`, style: { left: percent(scale.at(end)) } },
    shape(path),
  );
}

function callLane(
  { call, from, to, isAnswered }: Lane,
  index: number,
  scale: Scale,
  { end }: Story,
): HTMLElement {
  const relation = RELATIONS[call.relation];
  const left = scale.at(from);
  const right = scale.at(to);
  const name = [
    h("b", { class: "number" }, call.relation === "read" ? "" : `Call ${index + 1}`),
    h("span", {}, ` ${relation.word}`),
    h("span", { class: "quiet lane-who" }, call.client ?? call.caller),
  ];
  const answered =
    call.relation === "read"
      ? `read ${clock(to, true)}`
      : `answered ${clock(to, true)}${call.has_read ? ", which it has read" : ""}`;
  // A call that found an outcome reaches back to the end of the one execution.
  const link = call.relation === "replayed" && from > end && svgLink(scale.at(end), left);
  return lane(`call lane-${call.relation}`, name, [
    link,
    h("span", {
      class: `wait${isAnswered ? "" : " unanswered"}`,
      style: { left: percent(left), width: percent(right - left) },
    }),
    h(
      "span",
      { class: "call", title: `${clock(from, true)} ${relation.word}`, style: { left: percent(left) } },
      shape(relation.shape),
    ),
    isAnswered &&
      call.relation !== "read" &&
      h(
        "span",
        { class: "answer", title: answered, style: { left: percent(right) } },
        shape("M3.5 8.4L6.6 11.4L12.5 4.9"),
      ),
  ]);
}

function svgLink(from: number, to: number): HTMLElement {
  return h(
    "span",
    { class: "reach", style: { left: percent(from), width: percent(to - from) } },
    svg(
      "svg",
      { viewBox: "0 0 10 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("path", { d: "M0 5H10" }),
    ),
  );
}

function guides(scale: Scale): Child[] {
  return [
    h(
      "div",
      { class: "guides", "aria-hidden": "true" },
      ...scale.ticks.map(({ at }) => h("span", { class: "guide", style: { left: percent(at) } })),
      ...scale.breaks.map(({ from, to }) =>
        h("span", { class: "gap", style: { left: percent(from), width: percent(to - from) } }),
      ),
    ),
  ];
}

function axis(scale: Scale): HTMLElement {
  return h(
    "div",
    { class: "lane lane-axis" },
    h("div", { class: "lane-name quiet" }, "since accepted"),
    h(
      "div",
      { class: "track" },
      ...scale.ticks.map(({ at, text }) =>
        h("span", { class: "axis-text number", style: { left: percent(at) } }, text),
      ),
      ...scale.breaks.map(({ from, to, ms }) =>
        h(
          "span",
          { class: "axis-text gap-text number", style: { left: percent((from + to) / 2) } },
          `${duration(ms)} later`,
        ),
      ),
    ),
  );
}

function legend({ lanes, marks }: Story): HTMLElement[] {
  const entry = (kind: string, text: string, mark: Child = undefined) =>
    h("span", { class: "legend-entry" }, h("span", { class: `swatch swatch-${kind}` }, mark), text);
  const relations = [...new Set(lanes.map(({ call }) => call.relation))];
  return [
    entry("waited", "waited"),
    entry("sent", "sent"),
    entry("ran", "ran"),
    ...relations.map((relation) => entry("call", RELATIONS[relation].word, shape(RELATIONS[relation].shape))),
    ...(lanes.some(({ isAnswered }) => !isAnswered)
      ? [entry("dots", "waits, or its wait ended: its caller reads the outcome later")]
      : []),
    ...(lanes.some(({ isAnswered }) => isAnswered)
      ? [entry("call", "answer with the outcome delivered", shape("M3.5 8.4L6.6 11.4L12.5 4.9"))]
      : []),
    ...(marks.some(({ kind }) => kind === "progress") ? [entry("progress", "progress")] : []),
    ...(marks.some(({ kind }) => kind === "partial") ? [entry("partial", "partial result")] : []),
    ...(marks.some(({ kind }) => kind === "cancel") ? [entry("cancel", "cancellation")] : []),
  ];
}

function summaryOf({ calls, segments, lanes }: Story, state: string): string {
  const times = segments
    .map(({ kind, from, to }) => `${SEGMENTS[kind]} for ${duration(to - from)}`)
    .join(", ");
  const answered = lanes.filter(({ isAnswered, call }) => isAnswered && call.relation !== "read").length;
  return `${calls} ${calls === 1 ? "call" : "calls"} on one operation, ${lookOf(state).word.toLowerCase()}: ${times}. ${answered} of them got the outcome.`;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(3)}%`;
}
