/** `select_editor`: sets the Editor for calls of a session that name none. */
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import { shown } from "../../editors/target-error.js";
import { define } from "./broker-tool.js";

export const SELECT = define(
  "select_editor",
  "Chooses the Editor for this session's calls that name none. Use it if list_editors shows several.",
  z.object({
    editor: z.string().max(200).nullable().describe("Its project's name or id; empty: none."),
  }),
  { readOnly: true },
  async ({ editor }, { broker, principal, selection }) => {
    if (!selection) {
      throw new BrokerError(
        "INVALID_ARGUMENTS",
        "select_editor chooses for a session, but this request belongs to none. Name the Editor in the `editor` argument of each call.",
      );
    }
    if (!editor) {
      await selection.select(undefined);
      return {
        status: "completed",
        selected: null,
        message: "No Editor is selected for this session any more.",
      };
    }
    const found = await broker.editor(principal, editor);
    await selection.select(found.id);
    const waits = found.connected ? "" : " It is not connected: they wait until it is.";
    return {
      status: "completed",
      selected: shown([found])[0],
      message: `Calls of this session that do not name an Editor go to ${found.id}.${waits}`,
    };
  },
);
