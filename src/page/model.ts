/** What /api/v1 answers, as far as the page shows it (docs/reference/api.md). Anything may be absent. */

export interface Me {
  principal: string;
  name: string;
  role: "read" | "submit" | "operate" | "admin";
}

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

export interface Diagnosis {
  code: string;
  message: string;
  next: string;
}

export interface Editor {
  id: string;
  project: string;
  project_path?: string;
  unity_version?: string;
  pid?: number;
  labels?: readonly string[];
  bridge?: string;
  connected: boolean;
  paused?: boolean;
  phase?: string;
  stall_ms?: number;
  queued?: number;
  running?: {
    tool?: string | undefined;
    log_id?: string | undefined;
    /** Whose it is: the name, and the id. */
    principal_name?: string | undefined;
    principal?: string | undefined;
    since?: string | undefined;
    progress?: Progress | undefined;
  };
  waiting?: number;
  last_seen_seconds_ago?: number;
  diagnosis?: Diagnosis;
  /** The machine whose worker holds its lease. */
  host?: string | undefined;
  cpu_percent?: number;
  memory_mb?: number;
}

export interface Editors {
  editors: Editor[];
  unreached?: { id: string; project: string; diagnosis: Diagnosis }[];
  refuses_calls?: { message: string };
}

export interface Row {
  log_id: string;
  tool: string;
  editor: string;
  pool?: string;
  principal: string;
  /** The name that its token was given; absent where that was revoked. */
  principal_name?: string;
  state: string;
  accepted_at: string;
  sent_at?: string;
  started_at?: string;
  ended_at?: string;
  execution_ms?: number;
  client?: string;
  progress?: Progress;
  queue_position?: number;
  /** How many calls found this operation instead of running again. */
  duplicates?: number;
  error?: string | { code?: string; message?: string };
  estimated_start_seconds?: number;
  estimated_end_seconds?: number;
}

export interface Rows {
  operations: Row[];
  next?: string;
  searched?: number;
}

/** A call that the operation answers, or a caller that has read it. */
export interface Call {
  relation: "created" | "joined" | "replayed" | "read";
  at: string;
  caller: string;
  request?: string;
  client?: string;
  delivered_at?: string;
  has_read?: boolean;
}

export interface History {
  /** When it reported how far it was, and partial results. */
  reports?: Partial<Record<"progress" | "partial", { first_at: string; last_at: string; count: number }>>;
  log_id: string;
  tool: string;
  editor: string;
  state: string;
  timeline: { at: string; event: string; detail?: string }[];
  calls?: Call[];
  why_once: string;
  principal?: string;
  principal_name?: string;
  pool?: string;
  effect?: string;
  client?: string;
  accepted_at?: string;
  sent_at?: string;
  started_at?: string;
  ended_at?: string;
  execution_ms?: number;
  progress?: Progress;
  queue_position?: number;
  estimated_start_seconds?: number;
  estimated_end_seconds?: number;
  error?: Row["error"];
  diagnosis?: Diagnosis;
}

export interface Line {
  type: string;
  message: string;
}

export interface Pool {
  /** As a call names it. */
  pool: string;
  editors: { id: string; connected: boolean }[];
  waiting: number;
}

export interface Worker {
  host: string;
  pid: number;
  version: string;
  editors: { id: string; connected: boolean }[];
}

export interface Client {
  name: string;
  version: string;
  transport: string;
  since: string;
  /** Another's name; absent: the reader's own. */
  principal?: string;
}

export interface AuditEntry {
  at: string;
  principal: string;
  name?: string;
  verb: string;
  tool?: string;
  editor?: string;
  log_id?: string;
  answer?: string;
  error_code?: string;
}

const ROLES: readonly string[] = ["read", "submit", "operate", "admin"];

export function hasRole(me: Me, needed: Me["role"]): boolean {
  return ROLES.indexOf(me.role) >= ROLES.indexOf(needed);
}
