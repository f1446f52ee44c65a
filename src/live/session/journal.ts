import { isDatabaseAway, type Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { readLiveAudio, type StoredPart } from '../../jobs/live/live-audio.ts';
import { type LiveSegment, messageOf, segmentsOf } from '../../jobs/live/live-segment.ts';
import {
  type AudioChunk,
  type LivePiece,
  type LiveRow,
  type LiveWrite,
  writeLive,
} from '../../jobs/live/live-store.ts';
import { notifyChanged } from '../../jobs/notify.ts';
import { retryWhileAway } from '../../jobs/work/retry-while-away.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import type { SegmentPosition } from '../../rules/live/live-segments.ts';
import { PendingAudio } from './pending-audio.ts';

/** Audio is written at most this time after it came. */
const WRITE_EVERY_MS = 250;
const RETRY_AFTER_MS = 500;
// A job shows 20, and the number of the others.
const WARNINGS_MAX = 100;

export type JournalSession = {
  row: Omit<LiveRow, 'accountId' | 'options' | 'connections' | 'isConnected'>;
  /** Whether the event streams of the job show words. */
  wordTimes: boolean;
  /** The first `bytes` bytes are durable; the oldest of the last write became durable `lagMs` after it came. */
  onDurable(bytes: number, lagMs: number): void;
  /** Another process has taken the session over, or its job has ended: nothing more is written. */
  onLost(): void;
  /** The session cannot be written, by a fault of the service. */
  onFailed(cause: unknown): void;
};

/**
 * Writes the audio and the segments of the live sessions of a process: those of a shard by one statement at a time, 250
 * ms after audio came, or at once for a segment. While the database is away everything waits.
 */
export class LiveJournal {
  readonly #runtime: Runtime;
  readonly #writers = new Map<number, ShardWriter>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Adds a session, under the lease that its row has. */
  open(session: JournalSession): JournalEntry {
    const { shard } = session.row;
    const writer = this.#writers.get(shard) ?? new ShardWriter(shard, this.#runtime);
    this.#writers.set(shard, writer);
    return new JournalEntry(session, writer, this.#runtime);
  }
}

/** What is to be written of a session. */
type Batch = {
  entry: JournalEntry;
  write: LiveWrite;
  chunks: AudioChunk[];
  pieces: LivePiece[];
  waiting: (() => void)[];
};

/** The journal of one session. */
export class JournalEntry {
  readonly session: JournalSession;
  readonly #writer: ShardWriter;
  readonly #runtime: Runtime;
  readonly #audio: PendingAudio;
  readonly #pieces: LivePiece[] = [];
  readonly #warnings: FoundWarning[];
  readonly #waiting: (() => void)[] = [];
  #position: SegmentPosition;
  #gapBytes: number;
  #durableGapBytes: number;
  #segments: number;
  #durableSegments: number;
  #durableBytes: number;
  #pendingSinceMs: number | null = null;
  readonly #closed = new AbortController();

  constructor(session: JournalSession, writer: ShardWriter, runtime: Runtime) {
    const { durableBytes, gapBytes, segments, frame, isSpeaking } = session.row;
    this.#position = { frame, isSpeaking };
    this.#segments = segments;
    this.#durableSegments = segments;
    this.session = session;
    this.#writer = writer;
    this.#runtime = runtime;
    this.#audio = new PendingAudio(durableBytes);
    this.#durableBytes = durableBytes;
    this.#gapBytes = gapBytes;
    this.#durableGapBytes = gapBytes;
    this.#warnings = [...session.row.warnings];
  }

  /** Final segments that are durable. */
  get segments(): number {
    return this.#durableSegments;
  }

  get durableBytes(): number {
    return this.#durableBytes;
  }

  /** Of the durable bytes. */
  get gapBytes(): number {
    return this.#durableGapBytes;
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  append(bytes: Uint8Array, position: SegmentPosition): void {
    if (this.#isClosed) return;
    this.#audio.append(bytes);
    this.move(position);
    this.#changed(WRITE_EVERY_MS);
  }

  skip(bytes: number, position: SegmentPosition): void {
    if (this.#isClosed) return;
    this.#audio.skip(bytes);
    this.move(position);
    this.#gapBytes += bytes;
    this.#changed(WRITE_EVERY_MS);
  }

  /** Found by this process or an earlier one. */
  get warnings(): readonly FoundWarning[] {
    return this.#warnings;
  }

  warn(warning: FoundWarning): void {
    if (this.#isClosed || this.#warnings.length >= WARNINGS_MAX) return;
    this.#warnings.push(warning);
    this.#changed(WRITE_EVERY_MS);
  }

  /** Written with what is added next, or is being added. */
  move(position: SegmentPosition): void {
    this.#position = position;
  }

  add(segment: LiveSegment, position: SegmentPosition): Promise<void> {
    const { row, wordTimes } = this.session;
    const segments = segmentsOf(segment, wordTimes);
    this.#segments = segment.number;
    this.move(position);
    this.#pieces.push({ id: row.id, number: segment.number, segments, message: messageOf(segment) });
    return this.flush();
  }

  flush(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#changed(0);
    });
  }

  pendingBytes(): number {
    return this.#audio.size;
  }

  /** For how long the oldest part that is not committed has waited. */
  pendingMs(): number {
    return this.#pendingSinceMs === null ? 0 : this.#runtime.clock.now() - this.#pendingSinceMs;
  }

  /** While the database is away the read waits, until the session is closed. */
  read(from: number, to: number): AsyncGenerator<StoredPart> {
    const { row } = this.session;
    const { db } = this.#runtime;
    const away = { waits: 'the audio of a live session', jobId: row.id, signal: this.#closed.signal };
    const rows: Sql['rows'] = (statement) => retryWhileAway(this.#runtime, away, () => db.rows(statement));
    return readLiveAudio({ ...db, rows }, row, from, to);
  }

  /** Nothing more is written, and what waits for a write resolves. */
  close(): void {
    this.#closed.abort(null);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** For the writer: all that waits; null once the session is closed. */
  batch(): Batch | null {
    if (this.#isClosed) return null;
    const { id, lease } = this.session.row;
    const chunks = this.#audio.chunks();
    const reached = { durableBytes: this.#audio.end, gapBytes: this.#gapBytes, segments: this.#segments };
    const warnings = [...this.#warnings];
    const write = { id, lease, ...reached, warnings, ...this.#position };
    return { entry: this, write, chunks, pieces: [...this.#pieces], waiting: [...this.#waiting] };
  }

  /** For the writer: the batch is committed. */
  committed({ write, chunks, pieces, waiting }: Batch): void {
    const lagMs = this.pendingMs();
    this.#audio.drop(chunks.length);
    this.#pieces.splice(0, pieces.length);
    this.#waiting.splice(0, waiting.length);
    this.#pendingSinceMs = this.#audio.size > 0 || this.#pieces.length > 0 ? this.#runtime.clock.now() : null;
    const hasGrown = write.durableBytes > this.#durableBytes;
    this.#durableBytes = write.durableBytes;
    this.#durableGapBytes = write.gapBytes;
    this.#durableSegments = write.segments;
    if (pieces.length > 0) notifyChanged(this.#runtime.db, write.id);
    if (hasGrown && !this.#isClosed) this.session.onDurable(write.durableBytes, lagMs);
    for (const resolve of waiting) resolve();
  }

  /** For the writer: the session is another's. */
  lost(): void {
    if (this.#isClosed) return;
    this.close();
    this.session.onLost();
  }

  /** For the writer. */
  failed(cause: unknown): void {
    if (this.#isClosed) return;
    this.close();
    this.session.onFailed(cause);
  }

  #changed(withinMs: number): void {
    this.#pendingSinceMs ??= this.#runtime.clock.now();
    this.#writer.writeWithin(this, withinMs);
  }
}

/** Writes the sessions of one shard, one statement at a time. */
class ShardWriter {
  readonly #shard: number;
  readonly #runtime: Runtime;
  readonly #changed = new Set<JournalEntry>();
  /** Ends the wait for the next write; null while a write runs, or nothing waits. */
  #hurry: AbortController | null = null;
  #isUrgent = false;
  #isRunning = false;

  constructor(shard: number, runtime: Runtime) {
    this.#shard = shard;
    this.#runtime = runtime;
  }

  writeWithin(entry: JournalEntry, ms: number): void {
    this.#changed.add(entry);
    this.#isUrgent ||= ms === 0;
    if (this.#isUrgent) this.#hurry?.abort(null);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#changed.size > 0) {
      if (!this.#isUrgent) await this.#wait();
      this.#isUrgent = false;
      const batches = [...this.#changed].flatMap((entry) => entry.batch() ?? []);
      this.#changed.clear();
      await this.#write(batches);
    }
    this.#isRunning = false;
  }

  async #wait(): Promise<void> {
    this.#hurry = new AbortController();
    await this.#runtime.clock.sleep(WRITE_EVERY_MS, this.#hurry.signal);
    this.#hurry = null;
  }

  async #write(batches: Batch[]): Promise<void> {
    if (batches.length === 0) return;
    try {
      await this.#writeOnce(batches);
    } catch (cause) {
      if (isDatabaseAway(cause)) return await this.#retryLater(batches, cause);
      // One session's rows may be at fault: the others are written without it.
      if (batches.length > 1) for (const batch of batches) await this.#write([batch]);
      else batches[0]!.entry.failed(cause);
    }
  }

  async #writeOnce(batches: Batch[]): Promise<void> {
    const chunks = batches.flatMap(({ write, chunks: own }) => own.map((chunk) => ({ ...chunk, id: write.id })));
    const pieces = batches.flatMap((batch) => batch.pieces);
    const writes = batches.map(({ write }) => write);
    const held = await writeLive(this.#runtime.db, { shard: this.#shard, writes, chunks, pieces });
    for (const batch of batches) {
      if (held.has(batch.write.id)) batch.entry.committed(batch);
      else batch.entry.lost();
    }
  }

  /** What came meanwhile is written with it: the sessions are asked again. */
  async #retryLater(batches: Batch[], cause: unknown): Promise<void> {
    this.#runtime.log.warn({ shard: this.#shard, err: cause }, 'database away; the audio of live sessions waits');
    await this.#runtime.clock.sleep(RETRY_AFTER_MS);
    for (const { entry } of batches) this.#changed.add(entry);
    this.#isUrgent = true;
  }
}
