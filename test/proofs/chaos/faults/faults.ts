/** Everything that goes wrong; each kind is one entry in the list of its part. */
import type { Fault } from "./fault.js";
import { editorFaults } from "./faults-editors.js";
import { processFaults } from "./faults-processes.js";
import { storeFaults } from "./faults-store.js";
import { wireFaults } from "./faults-wire.js";

export const FAULTS: readonly Fault[] = [...processFaults, ...editorFaults, ...wireFaults, ...storeFaults];
