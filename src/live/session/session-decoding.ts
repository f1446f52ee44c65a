import type { EngineError, Pcm } from '../../engines/engine.ts';
import type { LiveDecoder, LiveEngine, LiveFinal, LivePartial } from '../../engines/live/live-engine.ts';
import type { LiveSegment } from '../../jobs/live/live-segment.ts';
import type { LiveRow } from '../../jobs/live/live-store.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import { bytesPerFrame } from '../../rules/live/encoding.ts';
import { FrameReader, type Gap } from '../../rules/live/frames.ts';
import {
  FLOOR_FRAMES,
  framePower,
  LiveSegments,
  type SegmentChange,
  type SegmentOptions,
  type SegmentPosition,
} from '../../rules/live/live-segments.ts';
import { shiftBy } from '../../rules/transcript/intervals.ts';
import type { JournalEntry } from './journal.ts';
import { SegmentDecoding } from './segment-decoding.ts';

/** Writes a session's rows. */
export type SessionJournal = Pick<
  JournalEntry,
  'append' | 'skip' | 'warn' | 'add' | 'move' | 'flush' | 'pendingBytes' | 'read'
>;

export type SessionEvents = {
  speechStarted?(startSeconds: number): void;
  speechStopped?(endSeconds: number): void;
  /** The words of the open segment so far; it begins at `startSeconds`. Absent: the engine makes none. */
  partial?(partial: LivePartial & { index: number; startSeconds: number }): void;
  /** A segment is final and durable. */
  segment?(segment: LiveSegment): void;
  /** A segment has ended without text; nothing of it is stored. */
  emptySegment?(): void;
  finalized?(id: string | null, offset: number): void;
  /** The engine failed twice on a segment. */
  segmentFailed?(cause: EngineError, segment: { startSeconds: number; endSeconds: number }): void;
};

export type SessionDecodingOptions = {
  /** Where the session continues: its `durableBytes` are stored. */
  row: Pick<LiveRow, 'options' | 'durableBytes' | 'segments' | keyof SegmentPosition>;
  journal: SessionJournal;
  events: SessionEvents;
  /** Nothing more is decoded or stored once it has aborted. */
  over: AbortSignal;
  engine: Pick<LiveEngine, 'maxPieceSeconds'>;
  openDecoder(): LiveDecoder;
  /** Changes a final before it is stored. */
  edit?: ((segment: LiveSegment) => LiveSegment) | null;
  /** Resolves when the session may keep the event loop for a step: `Slices`. */
  turn(): Promise<void>;
  /** The journal cannot be read, or the engine is away: another process has to go on. Nothing more is committed. */
  onFailed(cause: unknown): void;
};

/** Audio that the engine has not decoded, and audio that is not committed, beyond which the client has to wait. */
const BACKLOG_MAX_SECONDS = 10;
const PENDING_MAX_BYTES = 2 * 2 ** 20;
/** Stored audio that is read again between two turns. */
const FRAMES_PER_TURN = 10;
// The resampler needs the frame before the first.
const RESAMPLER_FRAMES = 1;

/**
 * A live session, whichever wire it came by: audio goes to the journal and to the segments, segments to the engine, and
 * their texts, in order, to the journal and then to the client. What it decides follows from the bytes alone, so that
 * another process can continue at the position that the journal has.
 */
export class SessionDecoding {
  readonly #options: SessionDecodingOptions;
  readonly #frameBytes: number;
  readonly #reader: FrameReader;
  #segments!: LiveSegments;
  #decoder!: LiveDecoder;
  /** Whether there are segments and a decoder. */
  #isBegun = false;
  /** The last frames, which the next segment may begin with. */
  #recent: Pcm[] = [];
  #frame: number;
  #open: SegmentDecoding | null = null;
  /** Segments that have ended and are not committed, oldest first. */
  readonly #ending: SegmentDecoding[] = [];
  #commits: Promise<void> = Promise.resolve();
  #nextNumber: number;
  #receivedBytes: number;
  /** What came during the replay. */
  #queued: (() => void)[] | null = null;

  constructor(options: SessionDecodingOptions) {
    const { row, over } = options;
    this.#options = options;
    this.#frameBytes = bytesPerFrame(row.options);
    this.#reader = new FrameReader(row.options);
    this.#frame = row.frame;
    this.#nextNumber = row.segments + 1;
    this.#receivedBytes = row.durableBytes;
    over.addEventListener('abort', () => this.#close());
    if (row.durableBytes === 0) this.#begin([]);
    else this.#queued = [];
  }

  get #isOver(): boolean {
    return this.#options.over.aborted;
  }

  /** Bytes of the session so far, gaps included. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Whether the client has to wait before it sends more. */
  isFull(): boolean {
    const { journal, row } = this.#options;
    if (journal.pendingBytes() >= PENDING_MAX_BYTES) return true;
    if (this.#queued !== null) return this.#receivedBytes - row.durableBytes > 1_000 * this.#frameBytes;
    return this.#decoder.backlogSeconds() >= BACKLOG_MAX_SECONDS;
  }

  /** Seconds of audio that the engine has not decoded. */
  behindSeconds(): number {
    return this.#queued === null ? this.#decoder.backlogSeconds() : 0;
  }

  /** Decodes what an earlier process has stored and not decided yet. Call it once for a session that continues. */
  async replay(): Promise<void> {
    const { row, turn } = this.#options;
    let frame = Math.max(0, row.frame - FLOOR_FRAMES - RESAMPLER_FRAMES);
    const powersBefore: number[] = [];
    for await (const next of this.#stored(frame * this.#frameBytes, row.durableBytes, this.#reader)) {
      if (this.#isOver) return;
      const frames = 'gapFrames' in next ? next.gapFrames : 1;
      const framesBefore = Math.min(frames, Math.max(0, row.frame - frame));
      frame += frames;
      if (framesBefore > 0) {
        if ('gapFrames' in next) powersBefore.length = 0;
        else powersBefore.push(framePower(next));
      }
      if (framesBefore === frames) continue;
      if (!this.#isBegun) this.#begin(powersBefore);
      if ('gapFrames' in next) this.#skip(frames - framesBefore);
      else this.#take(next);
    }
    if (!this.#isBegun) this.#begin(powersBefore);
    for (let act = this.#queued?.shift(); act; act = this.#queued?.shift()) {
      act();
      await turn();
    }
    this.#queued = null;
  }

  /** Takes audio, a tenth of a second at most: it is decoded at once. */
  write(bytes: Uint8Array): void {
    this.#receivedBytes += bytes.length;
    this.#afterReplay(() => this.#takeAll(this.#reader.push(bytes)));
    this.#options.journal.append(bytes, this.#position());
  }

  /**
   * Passes over audio that the client has lost, up to an offset: it ends the open segment, and nothing of it is stored
   * or decoded.
   */
  gap(to: number): void {
    const bytes = to - this.#receivedBytes;
    this.#receivedBytes = to;
    this.#afterReplay(() => this.#takeAll(this.#reader.skip(bytes)));
    this.#options.journal.skip(bytes, this.#position());
    this.#options.journal.warn({ code: 'audio_gap' });
  }

  /**
   * Ends the open segment; `finalized` follows the segments that have ended until then.
   * @param onNothing  called when no segment is open
   */
  finalize(id: string | null, onNothing?: () => void): void {
    this.#afterReplay(() => {
      const offset = this.#receivedBytes;
      const end = this.#segments.end('finalize');
      if (end === null) onNothing?.();
      this.#change(end);
      this.#inOrder(async () => this.#options.events.finalized?.(id, offset));
    });
  }

  /** Gives the open segment up: its audio has no text. */
  discard(onDiscarded: () => void): void {
    this.#afterReplay(() => {
      if (this.#segments.end('finalize') !== null) {
        this.#open?.close();
        this.#open = null;
        this.#options.journal.move(this.#position());
      }
      onDiscarded();
    });
  }

  /** Decodes everything that was received. Resolves when all segments are committed. */
  async finish(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#afterReplay(() => {
        this.#takeAll(this.#reader.end());
        this.#change(this.#segments.end('finish'));
        resolve();
      });
    });
    await this.#commits;
    await this.#options.journal.flush();
  }

  #close(): void {
    for (const decoding of [...this.#ending, this.#open]) decoding?.close();
    this.#decoder?.close();
  }

  /** Where another process can continue. Not after the end of a segment that is not committed. */
  #position(): SegmentPosition {
    const first = this.#ending[0] ?? this.#open;
    if (first) return first.position;
    return this.#isBegun ? this.#segments.position() : this.#options.row;
  }

  #afterReplay(act: () => void): void {
    if (this.#queued === null) act();
    else this.#queued.push(act);
  }

  /** @param powers  of the last frames before the position */
  #begin(powers: number[]): void {
    const { row, engine, openDecoder } = this.#options;
    this.#segments = new LiveSegments(segmentationFor(engine, row.options), row, powers);
    this.#decoder = openDecoder();
    this.#isBegun = true;
    if (row.isSpeaking) this.#start(row);
  }

  #takeAll(frames: Iterable<Pcm | Gap>): void {
    for (const next of frames) {
      if ('gapFrames' in next) this.#skip(next.gapFrames);
      else this.#take(next);
    }
  }

  #skip(frames: number): void {
    if (this.#isOver) return;
    this.#recent = [];
    this.#change(this.#segments.skip(frames));
    this.#frame += frames;
  }

  #take(frame: Pcm): void {
    if (this.#isOver) return;
    this.#frame += 1;
    this.#open?.write(frame);
    this.#recent.push(frame);
    const changes = this.#segments.push(framePower(frame));
    for (const change of changes) this.#change(change);
    const excess = this.#recent.length - this.#segments.framesToKeep();
    if (excess > 0) this.#recent.splice(0, excess);
  }

  #change(change: SegmentChange | null): void {
    if (change?.kind === 'start') {
      this.#start({ frame: change.start, isSpeaking: this.#segments.position().isSpeaking });
      for (const frame of this.#recent.slice(this.#recent.length - (this.#frame - change.start)))
        this.#open!.write(frame);
    } else if (change?.kind === 'end') this.#end(change);
  }

  #start(position: SegmentPosition): void {
    const { events, journal, over } = this.#options;
    const startSeconds = position.frame / 100;
    const index = this.#nextNumber - 1 + this.#ending.length;
    this.#open = new SegmentDecoding({
      decoder: this.#decoder,
      position,
      over,
      onPartial: events.partial ? (partial) => events.partial?.({ ...partial, index, startSeconds }) : null,
      readAgain: (segment) => this.#readAgain(segment),
      onGivenUp: (cause) => {
        const segment = { startSeconds, endSeconds: this.#frame / 100 };
        journal.warn({ code: 'segment_failed', ...segment });
        events.segmentFailed?.(cause, segment);
      },
    });
    events.speechStarted?.(startSeconds);
  }

  #end(change: Extract<SegmentChange, { kind: 'end' }>): void {
    const decoding = this.#open!;
    this.#open = null;
    this.#ending.push(decoding);
    this.#options.events.speechStopped?.(change.end / 100);
    const final = decoding.end(change);
    // `#inOrder` reports a failure.
    final.catch(() => undefined);
    this.#inOrder(async () => this.#commit(change, await final));
  }

  async #commit(change: Extract<SegmentChange, { kind: 'end' }>, final: LiveFinal): Promise<void> {
    const { journal, events, edit } = this.#options;
    this.#ending.shift();
    for (const warning of warningsOf(change, final)) journal.warn(warning);
    if (final.text === '') {
      journal.move(this.#position());
      return events.emptySegment?.();
    }
    const segment = segmentOf(change, final, this.#nextNumber);
    this.#nextNumber += 1;
    const edited = edit?.(segment) ?? segment;
    await journal.add(edited, this.#position());
    if (!this.#isOver) events.segment?.(edited);
  }

  #inOrder(act: () => Promise<void>): void {
    this.#commits = this.#commits.then(async () => {
      if (!this.#isOver) await act();
    });
    this.#commits.catch((cause: unknown) => {
      if (!this.#isOver) this.#options.onFailed(cause);
    });
  }

  async *#readAgain({ start, end }: { start: number; end: number }): AsyncGenerator<Pcm> {
    await this.#options.journal.flush();
    let frame = Math.max(0, start - RESAMPLER_FRAMES);
    for await (const next of this.#stored(frame * this.#frameBytes, end * this.#frameBytes)) {
      if ('gapFrames' in next) frame += next.gapFrames;
      else if (frame++ >= start) yield next;
    }
  }

  /** The frames and the gaps of stored audio, read in steps. */
  async *#stored(from: number, to: number, reader?: FrameReader): AsyncGenerator<Pcm | Gap> {
    const { row, journal, turn } = this.#options;
    reader ??= new FrameReader(row.options);
    let read = 0;
    for await (const part of journal.read(from, to)) {
      for (const next of part.kind === 'bytes' ? reader.push(part.bytes) : reader.skip(part.bytes)) {
        if (read++ % FRAMES_PER_TURN === 0) await turn();
        yield next;
      }
    }
  }
}

/**
 * How a session is divided for an engine: audio that is longer than its longest piece would be cut again, elsewhere
 * with each partial text. Where only the client ends segments, each is one text for it, however long.
 */
function segmentationFor({ maxPieceSeconds }: Pick<LiveEngine, 'maxPieceSeconds'>, asked: SegmentOptions) {
  const { endpointingMs } = asked;
  if (endpointingMs === 0 || maxPieceSeconds === undefined) return asked;
  const maxSegmentSeconds = Math.min(asked.maxSegmentSeconds, maxPieceSeconds);
  return { endpointingMs, maxSegmentSeconds };
}

/** What a client should know about a segment. */
function warningsOf({ start }: { start: number }, { untranscribed = [], repetitions = [] }: LiveFinal): FoundWarning[] {
  const startSeconds = start / 100;
  return [
    ...shiftBy(startSeconds, untranscribed).map((part) => ({ code: 'untranscribed' as const, ...part })),
    ...shiftBy(startSeconds, repetitions).map((part) => ({ code: 'repetition' as const, ...part })),
  ];
}

function segmentOf(
  { start, end, reason }: Extract<SegmentChange, { kind: 'end' }>,
  final: LiveFinal,
  number: number,
): LiveSegment {
  const { text, confidence, language } = final;
  const startSeconds = start / 100;
  const words = shiftBy(startSeconds, final.words);
  return { number, startSeconds, endSeconds: end / 100, text, confidence, reason, words, language };
}
