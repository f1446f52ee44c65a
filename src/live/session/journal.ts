import { isDatabaseAway, type Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { LiveSegment } from '../../jobs/live/live-segment.ts';
import { type AudioChunk, type LivePiece, type LiveWrite, writeLive } from '../../jobs/live/live-store.ts';
import { notifyChanged } from '../../jobs/notify.ts';
import type { JobKey } from '../../jobs/store.ts';
import { segmentsJson } from '../../jobs/transcript.ts';
import { retryWhileAway } from '../../jobs/work/retry-while-away.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import type { SegmentPosition } from '../../rules/live/live-segments.ts';
import { readLiveAudio, type StoredPart } from './audio/live-audio.ts';
import { PendingAudio } from './pending-audio.ts';

/** Audio is written at most this time after it came. */
const WRITE_EVERY_MS = 250;
const RETRY_AFTER_MS = 500;
// A job shows 20, and the number of the others.
const WARNINGS_MAX = 100;

/** The session that a journal writes. */
export type JournalSession = {
  row: JobKey & LiveWrite;
  /** Whether the event streams of the job show words. */
  job: { wordTimes: boolean };
  /** Nothing more is written once it has aborted. */
  over: AbortSignal;
  /** The first `bytes` bytes are durable; the oldest of the last write became durable `lagMs` after it came. */
  acknowledge(bytes: number, lagMs: number): void;
  /** Another process has taken the session over, or its job has ended. */
  loseLease(): void;
  /** A fault of the service. @param what  for the log */
  fail(cause: unknown, what: string): void;
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

/**
 * The journal of one session. All that was added before is committed with, or before, what is added later. Each
 * position is where another process continues once what was added until then is committed.
 */
export class JournalEntry {
  readonly session: JournalSession;
  readonly #writer: ShardWriter;
  readonly #runtime: Runtime;
  readonly #audio: PendingAudio;
  readonly #pieces: LivePiece[] = [];
  readonly #waiting: (() => void)[] = [];
  /** What the next write stores, beside the bytes. */
  readonly #next: LiveWrite;
  #durable: LiveWrite;
  #pendingSinceMs: number | null = null;

  constructor(session: JournalSession, writer: ShardWriter, runtime: Runtime) {
    const { row, over } = session;
    this.session = session;
    this.#writer = writer;
    this.#runtime = runtime;
    this.#audio = new PendingAudio(row.durableBytes);
    this.#next = { ...row, warnings: [...row.warnings] };
    this.#durable = row;
    over.addEventListener('abort', () => {
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  /** What is committed. */
  get durable(): Readonly<LiveWrite> {
    return this.#durable;
  }

  get #isOver(): boolean {
    return this.session.over.aborted;
  }

  /** Adds bytes of audio. */
  append(bytes: Uint8Array, position: SegmentPosition): void {
    if (this.#isOver) return;
    this.#audio.append(bytes);
    this.move(position);
    this.#changed(WRITE_EVERY_MS);
  }

  /** Adds a gap: bytes that the client has lost. */
  skip(bytes: number, position: SegmentPosition): void {
    if (this.#isOver) return;
    this.#audio.skip(bytes);
    this.#next.gapBytes += bytes;
    this.move(position);
    this.#changed(WRITE_EVERY_MS);
  }

  /** Adds a warning for the job at its end. */
  warn(warning: FoundWarning): void {
    if (this.#isOver || this.#next.warnings.length >= WARNINGS_MAX) return;
    this.#next.warnings.push(warning);
    this.#changed(WRITE_EVERY_MS);
  }

  /** What lies before the position is decided: written with what is added next, or is being added. */
  move({ frame, isSpeaking }: SegmentPosition): void {
    Object.assign(this.#next, { frame, isSpeaking });
  }

  /** Resolves once the segment is committed, or the session is over. */
  add(segment: LiveSegment, position: SegmentPosition): Promise<void> {
    const { row, job } = this.session;
    const segments = segmentsJson({ segments: [segment] }, job.wordTimes);
    this.#next.segments = segment.number;
    this.move(position);
    this.#pieces.push({ id: row.id, number: segment.number, segments, message: JSON.stringify(segment) });
    return this.flush();
  }

  /** Resolves once everything that was added is committed, or the session is over. */
  flush(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#changed(0);
    });
  }

  /** Bytes that are not committed. */
  pendingBytes(): number {
    return this.#audio.size;
  }

  /** For how long the oldest part that is not committed has waited. */
  pendingMs(): number {
    return this.#pendingSinceMs === null ? 0 : this.#runtime.clock.now() - this.#pendingSinceMs;
  }

  /** The committed audio from one byte to another. While the database is away the read waits. */
  read(from: number, to: number): AsyncGenerator<StoredPart> {
    const { row, over } = this.session;
    const { db } = this.#runtime;
    const away = { waits: 'the audio of a live session', jobId: row.id, signal: over };
    const rows: Sql['rows'] = (statement) => retryWhileAway(this.#runtime, away, () => db.rows(statement));
    return readLiveAudio({ ...db, rows }, row, from, to);
  }

  /** For the writer: all that waits; null once the session is over. */
  batch(): Batch | null {
    if (this.#isOver) return null;
    const chunks = this.#audio.chunks();
    const write = { ...this.#next, durableBytes: this.#audio.end, warnings: [...this.#next.warnings] };
    return { entry: this, write, chunks, pieces: [...this.#pieces], waiting: [...this.#waiting] };
  }

  /** For the writer: the batch is committed. */
  committed({ write, chunks, pieces, waiting }: Batch): void {
    const lagMs = this.pendingMs();
    this.#audio.drop(chunks.length);
    this.#pieces.splice(0, pieces.length);
    this.#waiting.splice(0, waiting.length);
    this.#pendingSinceMs = this.#audio.size > 0 || this.#pieces.length > 0 ? this.#runtime.clock.now() : null;
    const hasGrown = write.durableBytes > this.#durable.durableBytes;
    this.#durable = write;
    if (pieces.length > 0) notifyChanged(this.#runtime.db, write.id);
    if (hasGrown && !this.#isOver) this.session.acknowledge(write.durableBytes, lagMs);
    for (const resolve of waiting) resolve();
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
      else batches[0]!.entry.session.fail(cause, 'a live session could not be written');
    }
  }

  async #writeOnce(batches: Batch[]): Promise<void> {
    const chunks = batches.flatMap(({ write, chunks: own }) => own.map((chunk) => ({ ...chunk, id: write.id })));
    const pieces = batches.flatMap((batch) => batch.pieces);
    const writes = batches.map(({ write }) => write);
    const held = await writeLive(this.#runtime.db, { shard: this.#shard, writes, chunks, pieces });
    for (const batch of batches) {
      if (held.has(batch.write.id)) batch.entry.committed(batch);
      else batch.entry.session.loseLease();
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
