import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../platform/log.ts';
import { type EngineError, type Pcm, SAMPLE_RATE } from '../engine.ts';
import { type Child, type ChildSettings, startChild } from '../process/child.ts';
import { closed, errorAtStart, failedOnAudio, restartDelayMs, stoppedOnAudio } from '../process/child-faults.ts';
import type { LiveAnswer, LiveRequest } from './child-serve-live.ts';
import type { LiveFinal, LivePartial } from './live-engine.ts';

export type LiveProcessSettings = Omit<ChildSettings, 'niceness'> & {
  /** What the operator should do when the process cannot start; part of the error message. */
  startAdvice: string;
  log: Log;
  /** Called each time that the process has crashed. */
  onRestart(): void;
};

/** Who is told of a segment. After `final` or `failed` nothing follows. */
export type SegmentUser = {
  partial(partial: LivePartial): void;
  final(final: LiveFinal): void;
  failed(error: EngineError): void;
};

type OpenSegment = { user: SegmentUser; sentSamples: number; decodedSamples: number; isEnding: boolean };

// A turn of the process takes some hundredths of a second.
const STALLED_AFTER_MS = 30_000;
const STALL_CHECK_MS = 1_000;
// The cost of audio is that of the last minutes.
const COST_OVER_SECONDS = 120;

/**
 * A process that decodes segments as their audio comes. It is started by the first segment, and again by the next one
 * after it has ended: then the segments that it had fail, and can be decoded again.
 */
export class LiveProcess implements AsyncDisposable {
  readonly #settings: LiveProcessSettings;
  readonly #segments = new Map<number, OpenSegment>();
  #starting: Promise<Child<LiveAnswer>> | null = null;
  /** Set once the process is ready. */
  #child: Child<LiveAnswer> | null = null;
  /** What is sent once it is. */
  #outbox: [LiveRequest, Pcm | undefined][] = [];
  #failures = 0;
  #nextId = 1;
  #answeredAtMs = 0;
  #stallTimer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #cost = { busySeconds: 0, audioSeconds: 0 };

  constructor(settings: LiveProcessSettings) {
    this.#settings = settings;
  }

  /** Segments that it decodes. */
  get segments(): number {
    return this.#segments.size;
  }

  /** Processor time for audio, both in seconds, lately. */
  get cost(): { busySeconds: number; audioSeconds: number } {
    return this.#cost;
  }

  /** Resolves once the process is ready. @throws EngineError */
  async start(): Promise<void> {
    await this.#start();
  }

  /** Begins a segment. Returns its id. */
  open(language: string | null, user: SegmentUser): number {
    const id = this.#nextId;
    this.#nextId += 1;
    if (this.#isClosed) {
      user.failed(closed());
      return id;
    }
    this.#segments.set(id, { user, sentSamples: 0, decodedSamples: 0, isEnding: false });
    this.#send({ kind: 'open', id, language });
    this.#start().catch(() => undefined);
    return id;
  }

  write(id: number, samples: Pcm): void {
    const segment = this.#segments.get(id);
    if (!segment) return;
    segment.sentSamples += samples.length;
    this.#send({ kind: 'audio', id }, samples);
  }

  /** There is no more audio: the text of its first seconds is wanted. */
  end(id: number, lengthSeconds: number): void {
    const segment = this.#segments.get(id);
    if (!segment) return;
    segment.isEnding = true;
    this.#send({ kind: 'end', id, lengthSeconds });
  }

  /** Nothing more of the segment is wanted. */
  close(id: number): void {
    if (this.#segments.delete(id)) this.#send({ kind: 'close', id });
  }

  /** Seconds of a segment that were written and not decoded. */
  backlogSeconds(id: number): number {
    const segment = this.#segments.get(id);
    return segment ? (segment.sentSamples - segment.decodedSamples) / SAMPLE_RATE : 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#failAll(closed());
    const child = this.#child ?? (await this.#starting?.catch(() => null));
    child?.kill();
    await child?.exited;
  }

  #send(request: LiveRequest, samples?: Pcm): void {
    if (this.#child) sendTo(this.#child, request, samples);
    else this.#outbox.push([request, samples]);
  }

  #start(): Promise<Child<LiveAnswer>> {
    this.#starting ??= this.#startOnce().catch((error: EngineError) => {
      this.#starting = null;
      this.#failures += 1;
      this.#failAll(error);
      throw error;
    });
    return this.#starting;
  }

  async #startOnce(): Promise<Child<LiveAnswer>> {
    if (this.#failures > 0) await delay(restartDelayMs(this.#failures));
    const child = startChild<LiveAnswer>({ ...this.#settings, niceness: 0 });
    const error = await errorAtStart(child, this.#settings.startAdvice);
    if (error === null && !this.#isClosed) {
      this.#failures = 0;
      this.#follow(child);
      return child;
    }
    child.kill();
    await child.exited;
    throw error ?? closed();
  }

  #follow(child: Child<LiveAnswer>): void {
    this.#child = child;
    for (const [request, samples] of this.#outbox.splice(0)) sendTo(child, request, samples);
    this.#answeredAtMs = performance.now();
    this.#stallTimer = setInterval(() => this.#killStalled(child), STALL_CHECK_MS).unref();
    void this.#listen(child);
  }

  async #listen(child: Child<LiveAnswer>): Promise<void> {
    try {
      while (true) this.#take(await child.next());
    } catch (cause) {
      await child.exited;
      if (this.#stallTimer) clearInterval(this.#stallTimer);
      this.#child = null;
      this.#starting = null;
      if (this.#isClosed) return;
      this.#settings.log.warn({ cause: String(cause), segments: this.#segments.size }, 'live engine process ended');
      this.#settings.onRestart();
      this.#failAll(stoppedOnAudio(cause));
    }
  }

  #take(answer: LiveAnswer): void {
    this.#answeredAtMs = performance.now();
    if (answer.kind === 'ready' || answer.kind === 'unready') return;
    const segment = this.#segments.get(answer.id);
    if (answer.kind === 'decoded') this.#count(answer);
    if (!segment) return;
    if (answer.kind === 'decoded') {
      segment.decodedSamples += answer.samples;
      if (answer.partial && !segment.isEnding) segment.user.partial(answer.partial);
      return;
    }
    this.#segments.delete(answer.id);
    if (answer.kind === 'final') segment.user.final(answer.final);
    else segment.user.failed(failedOnAudio(new Error(answer.reason)));
  }

  #count({ busyMs, samples }: { busyMs: number; samples: number }): void {
    const { busySeconds, audioSeconds } = this.#cost;
    const keep = audioSeconds > COST_OVER_SECONDS ? 0.5 : 1;
    this.#cost = {
      busySeconds: busySeconds * keep + busyMs / 1000,
      audioSeconds: audioSeconds * keep + samples / SAMPLE_RATE,
    };
  }

  /** Native code that does not return cannot be interrupted. */
  #killStalled(child: Child<LiveAnswer>): void {
    const isOwed = this.#segments
      .values()
      .some((one) => one.isEnding || one.sentSamples - one.decodedSamples > SAMPLE_RATE);
    if (!isOwed) this.#answeredAtMs = performance.now();
    else if (performance.now() - this.#answeredAtMs >= STALLED_AFTER_MS) child.kill();
  }

  #failAll(error: EngineError): void {
    this.#outbox = [];
    const failed = [...this.#segments.values()];
    this.#segments.clear();
    for (const { user } of failed) user.failed(error);
  }
}

function sendTo(child: Child<LiveAnswer>, request: LiveRequest, samples?: Pcm): void {
  child.send(request, samples && new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
}
