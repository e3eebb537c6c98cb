/** What keeps Editors from working, as far as somebody still says so. */
import { BrokerError } from "../shared/errors.js";
import {
  type Editors,
  type KnownEditor,
  type ToldTrouble,
  TROUBLE_STANDS_MS,
} from "../shared/redis/editors.js";
import type { Operations } from "../shared/redis/operations.js";
import { holdsUpCalls } from "../shared/trouble.js";

/** Found on a worker's machine, but it never answered hello. */
export interface Unreached extends ToldTrouble {
  editor: string;
}

/** The trouble, if its Editor's owner told it lately. `now`: store clock, ms. */
export function stands(trouble: ToldTrouble | undefined, now: number): ToldTrouble | undefined {
  return trouble && now - trouble.at < TROUBLE_STANDS_MS ? trouble : undefined;
}

/** The trouble, if calls have to wait for it. */
export function holdingUp(trouble: ToldTrouble | undefined): ToldTrouble | undefined {
  return trouble && holdsUpCalls(trouble) ? trouble : undefined;
}

export function unreachedOf(
  troubles: ReadonlyMap<string, ToldTrouble>,
  known: readonly KnownEditor[],
  now: number,
): Unreached[] {
  const ids = new Set(known.map(({ profile }) => profile.editorId));
  return [...troubles].flatMap(([editor, told]) => {
    const trouble = ids.has(editor) ? undefined : stands(told, now);
    return trouble ? [{ ...trouble, editor }] : [];
  });
}

/** Where no Editor was ever seen, those that could not be reached say why; other errors stay as they are. */
export async function withTroubles(
  error: unknown,
  { editors, operations }: { editors: Pick<Editors, "troubles">; operations: Pick<Operations, "now"> },
  sees: (editorId: string) => boolean,
): Promise<unknown> {
  if (!(error instanceof BrokerError) || error.code !== "NO_EDITOR") return error;
  const [troubles, now] = await Promise.all([editors.troubles(), operations.now()]);
  const found = unreachedOf(troubles, [], now).filter(({ editor }) => sees(editor));
  if (found.length === 0) return error;
  const said = found.map(({ message, next }) => `${message} ${next}`).join(" ");
  return new BrokerError("NO_EDITOR", `No Unity Editor could be reached. ${said}`);
}
