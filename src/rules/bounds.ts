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
  /** The time of a piece of audio: this, and so much for each second of it. The engine may load its model first. */
  pieceMs: 60_000,
  piecePerAudioSecondMs: 4_000,
  /** A transcriber reports so often for which plans it works, */
  reportPlansEveryMs: 5_000,
  /** and is believed for this time. */
  planTrustMs: 15_000,

  // Nodes
  reportNodeEveryMs: 10_000,
  /** A node is alive for this time after its report. */
  nodeAliveMs: 30_000,

  // Keys
  /** A key that another node revokes, and a session that it ends, is refused within this time. */
  keyEndsWithinMs: 1_000,
  /** A caller is looked up again after this time. */
  callerMaxAgeMs: 900,
  /** The streams of a key end within this time after it. */
  streamsEndWithinMs: 2_000,
  streamKeysPollMs: 500,
  /** A stream whose client does not read cannot end after its current message: it is destroyed after this time. */
  streamEndMs: 500,

  // Deliveries
  heartbeatMs: 1_000,
  shardLeaseMs: 10_000,
  /** Attempts start for this time after a heartbeat was sent. */
  shardTrustMs: 8_000,
  /** What is due is read so often. A poll looks back as far as a commit may take. */
  deliveryPollMs: 1_000,
  /** A read brings what is due within this time, which waits in memory. */
  deliveryAheadMs: 1_000,
  /** A read of one webhook's rows brings what is due within this time. */
  refillAheadMs: 2_000,
  /** A row is visible when its transaction commits: a read upon a notification looks back this far. */
  usualCommitMs: 250,
  /** All webhooks are searched so often, for deliveries that the reads have missed. */
  deliverySearchMs: 60_000,
  /** A delivery that the search finds, due for longer than this, counts as found late. */
  foundLateMs: 2_000,
  /** No attempt is sent later than this after a webhook was deleted or disabled, on any node. */
  withdrawnWithinMs: 1_000,
  /** A request is sent with settings of its webhook that are at most this old, from the start of their read. */
  settingsMaxAgeMs: 750,
  /** Between the last look at the settings and the first byte of the request. */
  sendMs: 200,
  /** A read of one webhook's rows brings its settings too, if they would be too old after this time. */
  settingsRefillMs: 500,

  // Streams of accounts
  /** A read begins this time before the horizon of the last one. */
  streamMarginMs: 10_000,
  /** A stream reads no further back than this, also after a resume: it waits for no transaction that runs longer. */
  streamLookBackMs: 60_000,

  // Idempotency keys
  keyLeaseMs: 30_000,
  renewKeysEveryMs: 7_500,

  // Stop
  /** The service ends within this time after SIGTERM. */
  stopMs: 10_000,
  /** The roles' processes are killed after this time. */
  rolesStopMs: 8_500,
  /** Connections of requests that have not ended are closed after this time. */
  requestsStopMs: 6_000,
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
    why: 'a stream waits for every transaction that is expected to commit, however late',
    holds: (ms) => ms.lateCommitMs < ms.streamLookBackMs - ms.streamMarginMs,
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
    why: 'a delivery is in memory before it is due: each poll reads as far ahead as the next one comes',
    holds: (ms) => ms.deliveryPollMs <= ms.deliveryAheadMs,
  },
  {
    why: 'a poll that times out leaves nothing out: the next one looks back over it, and over a usual commit',
    holds: (ms) => ms.deliveryPollMs + ms.queryTimeoutMs + ms.usualCommitMs < ms.lateCommitMs,
  },
  {
    why: 'a refill brings the rows that a read has brought before and memory has forgotten, also those not due yet',
    holds: (ms) => ms.deliveryAheadMs < ms.refillAheadMs,
  },
  {
    why: 'what the next poll brings does not count as found late',
    holds: (ms) => ms.deliveryPollMs < ms.foundLateMs,
  },
  {
    why: 'the search is for what no poll can find',
    holds: (ms) => ms.lateCommitMs < ms.deliverySearchMs,
  },
  {
    why: 'a request is sent in time with the oldest settings that it may be sent with',
    holds: (ms) => ms.settingsMaxAgeMs + ms.sendMs < ms.withdrawnWithinMs,
  },
  {
    why: 'settings that a refill does not bring are fresh until the next refill',
    holds: (ms) => ms.settingsRefillMs <= ms.settingsMaxAgeMs,
  },
  {
    why: 'three renewals of an idempotency key may fail without its loss',
    holds: (ms) => 3 * ms.renewKeysEveryMs + ms.queryTimeoutMs < ms.keyLeaseMs,
  },
  {
    why: 'two reports of a transcriber may be missing before its plans wait',
    holds: (ms) => 2 * ms.reportPlansEveryMs + ms.queryTimeoutMs < ms.planTrustMs,
  },
  {
    why: 'a report of a node may be missing while it counts as alive',
    holds: (ms) => 2 * ms.reportNodeEveryMs + ms.queryTimeoutMs < ms.nodeAliveMs,
  },
  {
    why: 'a revoked key is looked up again before it must be refused',
    holds: (ms) => ms.callerMaxAgeMs < ms.keyEndsWithinMs,
  },
  {
    why: 'the keys of streams are looked up, and a client that does not read is cut off, before the streams must end',
    holds: (ms) => ms.streamKeysPollMs + ms.streamEndMs < ms.streamsEndWithinMs,
  },
  {
    why: 'requests that are cut off let the process stop before the roles are killed',
    holds: (ms) => ms.requestsStopMs < ms.rolesStopMs,
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
