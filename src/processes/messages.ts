import type { Sandbox } from '../audio/sandbox/sandbox.ts';
import type { Role } from '../config/settings.ts';

/** A role's process; `http` runs on every node: without the api role it serves the operator's surface only. */
export type ProcessName = 'http' | Exclude<Role, 'api'>;

/** Said to a role's process as it is started: it may prepare before its order comes. */
export const PREPARE_EARLY = 'early';

/**
 * Whether a role can do its work now. The reasons are sentences for the operator that anybody may read; the details, such
 * as addresses and paths, are for the log and the admin API.
 */
export type RoleStatus = { ready: boolean; reasons: string[]; details?: string[] };

/** The status of a role that has not yet reported one. */
export function starting(name: ProcessName): RoleStatus {
  return { ready: false, reasons: [`The ${name} process is starting.`] };
}

/** What the parent made before the roles start: secrets travel here, not in the environment that `ps` and children see. */
export type StartOrder = {
  databaseUrl: string;
  /** PostgreSQL itself, where `databaseUrl` is a pooler that pools by transaction. */
  databaseDirectUrl?: string;
  /** What the whole node may open, where something limits it. */
  maxConnections?: number;
  adminToken: string;
  /** In base64, separated by commas: the first encrypts. */
  secretsKeysBase64: string;
  /** Null on a node that opens no audio. */
  sandbox: Sandbox | null;
  /** `<node>/<process>`: the name under which this process, and no other ever, holds leases. */
  holder: string;
};

/** One process's metrics, as prom-client gives them; opaque to the parent. */
export type MetricsSnapshot = unknown;

export type ToChild =
  | { kind: 'start'; order: StartOrder }
  | { kind: 'stop' }
  | { kind: 'statuses'; statuses: Partial<Record<ProcessName, RoleStatus>> }
  | { kind: 'metrics-wanted'; requestId: number }
  | { kind: 'metrics-of-all'; requestId: number; snapshots: MetricsSnapshot[] };

export type ToParent =
  | { kind: 'status'; status: RoleStatus }
  /** The role can never start as things are (port taken, say): the whole service ends with this sentence. */
  | { kind: 'fatal'; message: string }
  | { kind: 'metrics'; requestId: number; snapshot: MetricsSnapshot }
  | { kind: 'metrics-of-all-wanted'; requestId: number };
