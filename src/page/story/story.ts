/** What the chart of an operation shows, from its history: the execution, and every call that it answers. Pure. */
import type { Call, History } from "../model.js";
import { hasEnded } from "../states.js";

export interface Segment {
  kind: "waited" | "sent" | "ran";
  from: number;
  to: number;
}

export interface Mark {
  at: number;
  kind: "progress" | "partial" | "cancel" | "end" | "begin";
  text: string;
}

export interface Lane {
  call: Call;
  from: number;
  /** When it was answered, or until when it is asked. */
  to: number;
  isAnswered: boolean;
}

export interface Story {
  segments: Segment[];
  marks: Mark[];
  lanes: Lane[];
  /** How many calls asked for it: the lanes without those that only read. */
  calls: number;
  /** What the end, or the present, of the execution is. */
  end: number;
  began: boolean;
  /** As the Editor measured it, ms. */
  ranMs: number | undefined;
  times: number[];
}

/** `seen`: what was reported while the page was open. `now`: ms since the epoch. */
export function storyOf(history: History, seen: readonly Mark[], now: number): Story {
  const at = (name: string): number | undefined => timeOf(history, name);
  const accepted = at("accepted") ?? now;
  const sent = at("sent");
  const started = at("started");
  const ended = hasEnded(history.state)
    ? Date.parse(history.ended_at ?? "") || at(history.state) || now
    : undefined;
  const end = ended ?? now;
  const segments: Segment[] = [{ kind: "waited", from: accepted, to: sent ?? started ?? end }];
  if (sent !== undefined) segments.push({ kind: "sent", from: sent, to: started ?? end });
  if (started !== undefined) segments.push({ kind: "ran", from: started, to: end });
  const marks = [
    ...history.timeline
      .filter(({ event }) => event === "cancel asked" || event === "given up")
      .map(
        (entry): Mark => ({
          at: Date.parse(entry.at),
          kind: "cancel",
          text: `${entry.event} ${entry.detail ?? ""}`.trim(),
        }),
      ),
    ...marksOfReports(history),
    ...seen.filter((mark) => mark.at >= accepted && mark.at <= end),
  ];
  const lanes = (history.calls ?? []).map((call): Lane => {
    const from = Date.parse(call.at);
    const delivered = call.delivered_at === undefined ? undefined : Date.parse(call.delivered_at);
    const to = call.relation === "read" ? from : Math.max(from, delivered ?? Math.max(end, from));
    return { call, from, to, isAnswered: delivered !== undefined };
  });
  return {
    segments,
    marks,
    lanes,
    calls: lanes.filter(({ call }) => call.relation !== "read").length || 1,
    end,
    began: started !== undefined,
    ranMs: history.execution_ms,
    times: [
      accepted,
      end,
      ...segments.map(({ from }) => from),
      ...lanes.flatMap(({ from, to }) => [from, to]),
    ],
  };
}

/** Of each kind the first report, and the last one if there were several. */
function marksOfReports({ reports = {} }: History): Mark[] {
  return (["progress", "partial"] as const).flatMap((kind) => {
    const times = reports[kind];
    if (!times) return [];
    const what = kind === "progress" ? "progress" : "partial result";
    const first: Mark = { at: Date.parse(times.first_at), kind, text: `first ${what}` };
    const last: Mark = { at: Date.parse(times.last_at), kind, text: `last ${what} of ${times.count}` };
    return times.count > 1 ? [first, last] : [first];
  });
}

function timeOf({ timeline }: History, event: string): number | undefined {
  const found = timeline.filter((entry) => entry.event === event).at(-1);
  return found && Date.parse(found.at);
}
