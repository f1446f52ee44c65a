import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../platform/log.ts';
import { EngineError, type Pcm, SAMPLE_RATE } from '../engine.ts';
import { joinPcm } from '../join-pcm.ts';
import { type Child, type ChildSettings, startChild } from '../process/child.ts';
import { closed, errorAtStart, failedOnAudio, restartDelayMs, stoppedOnAudio } from '../process/child-faults.ts';
import type { LiveAnswer, LiveRequest } from './child-serve-live.ts';
import type { LiveFinal, LiveSegmentDecoder, OnPartial } from './live-engine.ts';

export type LiveProcessSettings = Omit<ChildSettings, 'niceness'> & {
  /** What the operator should do when the process cannot start; part of the error message. */
  startAdvice: string;
  log: Log;
  /** Called each time that the process has crashed. */
  onRestart(): void;
};

// A turn of the process takes some hundredths of a second.
const STALLED_AFTER_MS = 30_000;
const STALL_CHECK_MS = 1_000;
// The cost of audio is that of the last minutes.
const COST_OVER_SECONDS = 120;

/** A segment that a process decodes as its audio comes. */
export class ProcessSegment implements LiveSegmentDecoder {
  readonly onPartial: OnPartial | null;
  readonly final = Promise.withResolvers<LiveFinal>();
  sentSamples = 0;
  decodedSamples = 0;
  isEnding = false;
  readonly #id: number;
  readonly #process: LiveProcess;
  readonly #language: string | null;
  #frames: Pcm[] = [];

  constructor(id: number, process: LiveProcess, language: string | null, onPartial: OnPartial | null) {
    this.#id = id;
    this.#process = process;
    this.#language = language;
    this.onPartial = onPartial;
    // A segment that fails before its end is reported there.
    this.final.promise.catch(() => undefined);
  }

  write(frame: Pcm): void {
    // The frames of a message come in one turn of the loop and are sent as one.
    if (this.#frames.length === 0) queueMicrotask(() => this.#flush());
    this.#frames.push(frame);
  }

  async end(lengthSeconds: number): Promise<LiveFinal> {
    this.#flush();
    this.isEnding = true;
    this.#process.send({ kind: 'end', id: this.#id, lengthSeconds });
    const final = await this.final.promise;
    return { ...final, language: final.language ?? this.#language };
  }

  close(): void {
    this.#frames = [];
    this.#process.send({ kind: 'close', id: this.#id });
    this.final.reject(new EngineError('engine_error', 'The session has ended.'));
  }

  /** Seconds that were written and not decoded. */
  backlogSeconds(): number {
    return (this.sentSamples - this.decodedSamples) / SAMPLE_RATE;
  }

  #flush(): void {
    const frames = this.#frames;
    this.#frames = [];
    if (frames.length === 0) return;
    const samples = joinPcm(frames);
    this.sentSamples += samples.length;
    this.#process.send({ kind: 'audio', id: this.#id }, samples);
  }
}

/**
 * A process that decodes segments as their audio comes. It is started by the first segment, and again by the next one
 * after it has ended: then the segments that it had fail, and can be decoded again.
 */
export class LiveProcess implements AsyncDisposable {
  readonly #settings: LiveProcessSettings;
  readonly #segments = new Map<number, ProcessSegment>();
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

  /** Begins a segment. @param language  BCP 47 code, or null to detect */
  open(language: string | null, onPartial: OnPartial | null): ProcessSegment {
    const id = this.#nextId;
    this.#nextId += 1;
    const segment = new ProcessSegment(id, this, language, onPartial);
    if (this.#isClosed) {
      segment.final.reject(closed());
      return segment;
    }
    this.#segments.set(id, segment);
    this.send({ kind: 'open', id, language });
    this.#start().catch(() => undefined);
    return segment;
  }

  /** For its segments: nothing is sent of one that has ended or failed. */
  send(request: LiveRequest, samples?: Pcm): void {
    const { kind, id } = request;
    if (!this.#segments.has(id)) return;
    if (kind === 'close') this.#segments.delete(id);
    if (this.#child) sendTo(this.#child, request, samples);
    else this.#outbox.push([request, samples]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#failAll(closed());
    const child = this.#child ?? (await this.#starting?.catch(() => null));
    child?.kill();
    await child?.exited;
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
      if (answer.partial && !segment.isEnding) segment.onPartial?.(answer.partial);
      return;
    }
    this.#segments.delete(answer.id);
    if (answer.kind === 'final') segment.final.resolve(answer.final);
    else segment.final.reject(failedOnAudio(new Error(answer.reason)));
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
    for (const { final } of this.#segments.values()) final.reject(error);
    this.#segments.clear();
  }
}

function sendTo(child: Child<LiveAnswer>, request: LiveRequest, samples?: Pcm): void {
  child.send(request, samples && new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
}
