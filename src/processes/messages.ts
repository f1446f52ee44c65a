import type { Sandbox } from '../audio/sandbox/sandbox.ts';
import type { Role } from '../config/settings.ts';

/**
 * A process of a node. `http` runs on every node: without the role api it serves the operator's surface only. It runs the
 * janitor too, whose statements take a few ms per minute and need no process of their own.
 */
export type ProcessName = 'http' | 'transcriber' | 'deliverer';

/** The process that runs a role. */
export function processOf(role: Role): ProcessName {
  return role === 'api' || role === 'janitor' ? 'http' : role;
}

/**
 * Whether a role can work now. The reasons are public sentences for the operator; the details, such as addresses and
 * paths, are for the log and the admin API.
 */
export type RoleStatus = { ready: boolean; reasons: string[]; details?: string[] };

/** The status of a role that has not yet reported one. */
export function starting(name: ProcessName): RoleStatus {
  return { ready: false, reasons: [`The ${name} process is starting.`] };
}

/** What a role gets from the parent. It holds secrets, which in the environment `ps` and child processes could read. */
export type StartOrder = {
  databaseUrl: string;
  /** PostgreSQL itself, where `databaseUrl` is a pooler that pools by transaction. */
  databaseDirectUrl?: string;
  /** The most connections of the whole node, where they are limited. */
  maxConnections?: number;
  adminToken: string;
  /** In base64, separated by commas: the first encrypts. */
  secretsKeysBase64: string;
  /** Null on a node that opens no audio. */
  sandbox: Sandbox | null;
  /** `<node>/<process>`: the unique name under which this process holds leases. */
  holder: string;
};

/** One process's metrics from prom-client; the parent does not read them. */
export type MetricsSnapshot = unknown;

export type ToChild =
  | { kind: 'start'; order: StartOrder }
  | { kind: 'stop' }
  | { kind: 'statuses'; statuses: Partial<Record<ProcessName, RoleStatus>> }
  | { kind: 'metrics-wanted'; requestId: number }
  | { kind: 'metrics-of-all'; requestId: number; snapshots: MetricsSnapshot[] };

export type ToParent =
  | { kind: 'status'; status: RoleStatus }
  /** The role cannot start, for example because its port is in use: the service ends with this message. */
  | { kind: 'fatal'; message: string }
  | { kind: 'metrics'; requestId: number; snapshot: MetricsSnapshot }
  | { kind: 'metrics-of-all-wanted'; requestId: number };
