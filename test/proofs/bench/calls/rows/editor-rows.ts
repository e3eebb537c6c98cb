/** Calls on a machine with eight Editors: all to one of them, and each to the next one. */
import { called, type Home } from "../../clients/home.js";
import type { Closers } from "../../closers.js";
import type { Row } from "../../measure/rounds.js";

export async function editorRows(closers: Closers, home: Home): Promise<Row[]> {
  const client = await home.client();
  closers.add(() => client.close());
  for (const editor of home.editors) await called(client, editor);
  let next = 0;
  const each = async (): Promise<void> => {
    next += 1;
    await called(client, home.editors[next % home.editors.length]);
  };
  const one = async (): Promise<void> => void (await called(client, home.editors[0]));
  return [
    { key: "one", title: "8 callers, one Editor of eight", inFlight: 8, call: one },
    { key: "eight", title: "8 callers, eight Editors", inFlight: 8, call: each },
    { key: "one-in-turn", title: "one call at a time, one Editor of eight", inFlight: 1, call: one },
    { key: "eight-in-turn", title: "one call at a time, eight Editors in turn", inFlight: 1, call: each },
  ];
}
