import { changeMethod, changesOf, type PlantedBug } from './planted-bug.ts';

const journal = changesOf<typeof import('../../src/live/session/journal.ts')>('src/live/session/journal.ts');
const liveStore = changesOf<typeof import('../../src/jobs/live/live-store.ts')>('src/jobs/live/live-store.ts');

/** Bytes that a process has received of each session. */
const received = new Map<string, number>();

export const LIVE_BUGS: PlantedBug[] = [
  {
    name: 'live audio is acknowledged before its commit',
    isLive: true,
    changes: [
      journal({
        JournalEntry: (original) =>
          changeMethod(
            original,
            'append',
            (append) =>
              function (bytes, position) {
                append.call(this, bytes, position);
                this.session.acknowledge(this.durable.durableBytes + this.pendingBytes(), 0);
              },
          ),
      }),
    ],
  },
  {
    name: 'a live session is written without a fence',
    isLive: true,
    changes: [
      liveStore({
        writeLive: (original) => async (sql, batch) => {
          const rows = await sql.rows<{ id: string; lease: number }>({
            text: 'select job_id as id, lease from live_sessions where shard = $1',
            values: [batch.shard],
          });
          const leases = new Map(rows.map(({ id, lease }) => [id, lease]));
          const writes = batch.writes.map((write) => ({ ...write, lease: leases.get(write.id) ?? write.lease }));
          return await original(sql, { ...batch, writes });
        },
      }),
    ],
  },
  {
    name: 'a live session continues at what was received, not at what is durable',
    isLive: true,
    changes: [
      journal({
        JournalEntry: (original) =>
          changeMethod(
            original,
            'append',
            (append) =>
              function (bytes, position) {
                append.call(this, bytes, position);
                received.set(this.session.row.id, this.durable.durableBytes + this.pendingBytes());
              },
          ),
      }),
      liveStore({
        takeLiveSession: (original) => async (tx, key, isConnected) => {
          const row = await original(tx, key, isConnected);
          return row && { ...row, durableBytes: Math.max(row.durableBytes, received.get(row.id) ?? 0) };
        },
      }),
    ],
  },
  {
    name: 'a final segment is sent before it is durable',
    isLive: true,
    changes: [
      journal({
        JournalEntry: (original) =>
          changeMethod(
            original,
            'add',
            (add) =>
              async function (segment, position) {
                void add.call(this, segment, position);
              },
          ),
      }),
    ],
  },
];
