/** The same call in two homes, whose stores hold few and many ended operations. */
import { called, type Home } from "../../clients/home.js";
import type { Closers } from "../../closers.js";
import type { Row } from "../../measure/rounds.js";
import { fillStore } from "../fill-store.js";

export const FEW_RETAINED = 100;

/** So few that the small store stays small. */
const CALLS_OF_BLOCK = 50;

/** Fills the stores; no broker may run in the homes yet. */
export async function retainedRows(
  closers: Closers,
  homes: { few: Home; many: Home },
  retained: number,
): Promise<Row[]> {
  const rowOf = async (key: string, home: Home, operations: number): Promise<Row> => {
    await fillStore(home, operations);
    const client = await home.client();
    closers.add(() => client.close());
    return {
      key,
      title: `a call beside ${operations.toLocaleString("en")} retained operations`,
      inFlight: 1,
      callsOfBlock: CALLS_OF_BLOCK,
      call: () => called(client),
    };
  };
  return [
    await rowOf("retained-few", homes.few, FEW_RETAINED),
    await rowOf("retained-many", homes.many, retained),
  ];
}
