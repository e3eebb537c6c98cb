/** The verbs of operators: everybody's operations, Editors and their owners. The rights are checked here, for every surface. */
import { createOperatorsEditors, type OperatorsEditors, type OperatorsEditorsDeps } from "./editors.js";
import {
  createOperatorsOperations,
  type OperatorsOperations,
  type OperatorsOperationsDeps,
} from "./operations.js";

export interface OperatorVerbs extends OperatorsOperations, OperatorsEditors {}

export type OperatorVerbsDeps = OperatorsOperationsDeps & OperatorsEditorsDeps;

export function createOperatorVerbs(deps: OperatorVerbsDeps): OperatorVerbs {
  return { ...createOperatorsOperations(deps), ...createOperatorsEditors(deps) };
}
