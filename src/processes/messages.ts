import type { Sandbox } from '../audio/sandbox/sandbox.ts';
import type { Part } from '../rules/network/connection-share.ts';

/**
 * Whether a role can work now. The reasons are public sentences for the operator; the details, such as addresses and
 * paths, are for the log and the admin API.
 */
export type RoleStatus = {
  ready: boolean;
  reasons: string[];
  details?: string[];
  /** What the person who starts the service wants to know of the role: its address, its engine. */
  about?: string;
};

/** The status of a role that has not yet reported one. */
export function starting(part: Part): RoleStatus {
  return { ready: false, reasons: [`The ${part} process is starting.`] };
}

/**
 * What a process gets from the parent. It holds secrets, which in the environment `ps` and child processes could read.
 */
export type StartOrder = {
  databaseUrl: string;
  /** PostgreSQL itself, where `databaseUrl` is a pooler that pools by transaction. */
  databaseDirectUrl?: string;
  /** The most connections of the whole node, where they are limited. */
  maxConnections?: number;
  adminToken: string;
  /** In base64, separated by commas: the first encrypts. */
  secretsKeysBase64: string;
  /** Of the audio storage that the database knows; null where none is known yet. */
  storageId: string | null;
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
  | { kind: 'statuses'; statuses: Partial<Record<Part, RoleStatus>> }
  | { kind: 'metrics-wanted'; requestId: number }
  | { kind: 'metrics-of-all'; requestId: number; snapshots: MetricsSnapshot[] };

export type ToParent =
  | { kind: 'status'; part: Part; status: RoleStatus }
  /** The role cannot start, for example because its port is in use: the service ends with this message. */
  | { kind: 'fatal'; message: string }
  | { kind: 'metrics'; requestId: number; snapshot: MetricsSnapshot }
  | { kind: 'metrics-of-all-wanted'; requestId: number };
