/**
 * Times of which one depends on another, in milliseconds. Read `ORDER` below before you change one: a process does not
 * start while a rule of `ORDER` is broken.
 */
export const BOUNDS = {
  // Database
  /** PostgreSQL ends a statement after this time: longer than any statement of the service takes. */
  statementTimeoutMs: 3_500,
  /** The client gives up a statement after this time. */
  queryTimeoutMs: 4_000,
  /** A request gets its 503 within this time while the database is away. */
  unavailableWithinMs: 5_000,
  /** A process that is frozen inside of a transaction loses its connection, and with it its locks. */
  idleInTransactionMs: 5_000,
  /** A database that does not respond for up to this time ends no lease. */
  databaseStallMs: 8_000,
  /** A transaction that takes longer to commit is not expected: what it wrote is found later. */
  lateCommitMs: 10_000,

  // Jobs and fetches
  leaseMs: 12_000,
  renewEveryMs: 2_000,
  /** After a renewal that failed. */
  renewAgainMs: 250,
  /**
   * A claim changes nothing when it runs later than this after the read of the queue;
   * so does a return of jobs whose leases ended.
   */
  claimValidMs: 3_000,
  /** After a database failure, no jobs are returned for this time. */
  returnPauseMs: 5_000,
  /** An end is written within this time after its `completed_at`. */
  endWithinMs: 5_000,

  // Deliveries
  heartbeatMs: 1_000,
  shardLeaseMs: 10_000,
  /** Attempts start for this time after a heartbeat was sent. */
  shardTrustMs: 8_000,

  // Streams of accounts
  /** A read begins this time before the horizon of the last one. */
  streamMarginMs: 10_000,

  // Idempotency keys
  keyLeaseMs: 30_000,
  renewKeysEveryMs: 7_500,

  // Stop
  /** The service ends within this time after SIGTERM. */
  stopMs: 10_000,
  /** The roles' processes are killed after this time. */
  rolesStopMs: 8_500,
  /** Jobs, fetches and attempts under way are left to their leases after this time. */
  workStopMs: 8_000,
  /** The embedded database is killed this time after it was asked to stop. */
  databaseStopMs: 1_400,
};

export type Bounds = typeof BOUNDS;

const ORDER: { holds: (bounds: Bounds) => boolean; why: string }[] = [
  {
    why: 'PostgreSQL ends a statement before the client gives it up: else its outcome is unknown more often than it must be',
    holds: (ms) => ms.statementTimeoutMs < ms.queryTimeoutMs,
  },
  {
    why: 'a request waits for one statement, and is answered 503 in time',
    holds: (ms) => ms.queryTimeoutMs < ms.unavailableWithinMs,
  },
  {
    why: 'a claim, or a return of jobs, that a stopped database runs late must change nothing: its process has given it up',
    holds: (ms) => ms.claimValidMs < ms.statementTimeoutMs,
  },
  {
    why: 'a lease lasts while the database stalls: it was renewed before, and a renewal waits when the database continues',
    holds: (ms) => ms.renewEveryMs + ms.databaseStallMs + ms.renewAgainMs < ms.leaseMs,
  },
  {
    why: 'one renewal may time out without the loss of the lease',
    holds: (ms) => ms.renewEveryMs + ms.queryTimeoutMs + ms.renewAgainMs < ms.leaseMs,
  },
  {
    why: 'after a database failure every holder has renewed its leases before jobs are returned',
    holds: (ms) => ms.queryTimeoutMs + ms.renewAgainMs < ms.returnPauseMs,
  },
  {
    why: 'a stream reads an event again whose time is earlier than the start of its transaction',
    holds: (ms) => ms.endWithinMs * 2 <= ms.streamMarginMs,
  },
  {
    why: 'one heartbeat may time out without a pause of the attempts',
    holds: (ms) => ms.heartbeatMs + ms.queryTimeoutMs < ms.shardTrustMs,
  },
  {
    why: 'attempts stop before another deliverer may take the shard',
    holds: (ms) => ms.shardTrustMs < ms.shardLeaseMs,
  },
  {
    why: 'a frozen process loses its transaction, and a slow statement ends, before their rows count as late',
    holds: (ms) => ms.idleInTransactionMs + ms.statementTimeoutMs < ms.lateCommitMs,
  },
  {
    why: 'three renewals of an idempotency key may fail without its loss',
    holds: (ms) => 3 * ms.renewKeysEveryMs + ms.queryTimeoutMs < ms.keyLeaseMs,
  },
  {
    why: 'work under way is handed back before the roles are killed',
    holds: (ms) => ms.workStopMs < ms.rolesStopMs,
  },
  {
    why: 'roles and the embedded database stop within the time that SIGTERM promises',
    holds: (ms) => ms.rolesStopMs + ms.databaseStopMs < ms.stopMs,
  },
];

/**
 * The reasons of the rules that these bounds break.
 * @internal  tests break each of them
 */
export function brokenBounds(bounds: Bounds): string[] {
  return ORDER.filter(({ holds }) => !holds(bounds)).map(({ why }) => why);
}

const broken = brokenBounds(BOUNDS);
if (broken.length > 0) throw new Error(`src/rules/bounds.ts: ${broken.join('; ')}`);
