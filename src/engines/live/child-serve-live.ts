import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { readFrames } from '../process/child-frames.ts';
import { asPcm, endWithParent, openAnswers } from '../process/child-serve.ts';
import type { LiveFinal, LivePartial } from './live-engine.ts';

/** What the process is sent; the body of `audio` is its samples. */
export type LiveRequest =
  | { kind: 'open'; id: number; language: string | null }
  | { kind: 'audio' | 'close'; id: number }
  | { kind: 'end'; id: number; lengthSeconds: number };

/** `busyMs` is the processor time for the samples since its last answer about the segment. */
export type LiveAnswer =
  | { kind: 'ready' }
  | { kind: 'unready'; reason: string }
  | { kind: 'decoded'; id: number; samples: number; busyMs: number; partial: LivePartial | null }
  | { kind: 'final'; id: number; final: LiveFinal }
  | { kind: 'failed'; id: number; reason: string };

/** A decoder of one segment that keeps up with its audio. */
export type SegmentStream = {
  /** Decodes the next samples, at most 0.1 s of them. Null where there is nothing new to show. */
  decode(samples: Pcm): LivePartial | null;
  /** The text of the first seconds of what was decoded. */
  end(lengthSeconds: number): LiveFinal;
  /** Frees what the segment holds; the last call. */
  close(): void;
};

/** Opens the decoder of a segment. */
export type OpenStream = (options: { language: string | null }) => SegmentStream;

/** So much audio of one segment is decoded before the next segment has its turn. */
const TURN_SAMPLES = 0.1 * SAMPLE_RATE;
const REPORT_EVERY_SAMPLES = 0.5 * SAMPLE_RATE;

/**
 * Runs a process that decodes the segments of many sessions as their audio comes, in turn, until the parent ends.
 * @param load  loads the model of the parent's settings
 */
export async function serveLive<Settings>(load: (settings: Settings) => Promise<OpenStream>): Promise<void> {
  endWithParent();
  const answer = openAnswers<LiveAnswer>();
  const open = await load(JSON.parse(process.argv[2]!) as Settings).catch((error: unknown) =>
    answer({ kind: 'unready', reason: reasonOf(error) }).then(() => process.exit(1)),
  );
  await answer({ kind: 'ready' });
  const segments = new Segments(open, (message) => void answer(message));
  void segments.decodeInTurn();
  for await (const { header, body } of readFrames(process.stdin)) segments.take(header as LiveRequest, body);
}

type Decoding = {
  id: number;
  stream: SegmentStream;
  waiting: Pcm[];
  /** What was decoded since the last answer. */
  samples: number;
  busyMs: number;
  /** Set once there is no more audio. */
  lengthSeconds: number | null;
};

class Segments {
  readonly #open: OpenStream;
  readonly #answer: (message: LiveAnswer) => void;
  readonly #decodings = new Map<number, Decoding>();
  #wake: (() => void) | null = null;

  constructor(open: OpenStream, answer: (message: LiveAnswer) => void) {
    this.#open = open;
    this.#answer = answer;
  }

  take(request: LiveRequest, body: Buffer): void {
    const { id } = request;
    if (request.kind === 'open') this.#attempt(id, () => this.#begin(id, request.language));
    const decoding = this.#decodings.get(id);
    if (decoding === undefined) return;
    if (request.kind === 'audio') decoding.waiting.push(asPcm(body));
    else if (request.kind === 'end') decoding.lengthSeconds = request.lengthSeconds;
    else if (request.kind === 'close') this.#drop(decoding);
    this.#wake?.();
  }

  async decodeInTurn(): Promise<never> {
    while (true) {
      const ready = [...this.#decodings.values()].filter(hasWork);
      if (ready.length === 0) await this.#untilWoken();
      for (const decoding of ready) {
        if (this.#decodings.get(decoding.id) === decoding) this.#attempt(decoding.id, () => this.#step(decoding));
        // What the parent has sent meanwhile is read.
        await turnOfTheLoop();
      }
    }
  }

  #begin(id: number, language: string | null): void {
    const stream = this.#open({ language });
    this.#decodings.set(id, { id, stream, waiting: [], samples: 0, busyMs: 0, lengthSeconds: null });
  }

  #step(decoding: Decoding): void {
    const { id, stream, lengthSeconds } = decoding;
    const before = process.cpuUsage();
    const samples = nextSamples(decoding.waiting);
    const partial = samples === null ? null : stream.decode(samples);
    const final = samples === null ? stream.end(lengthSeconds!) : null;
    const { user, system } = process.cpuUsage(before);
    decoding.busyMs += (user + system) / 1000;
    decoding.samples += samples?.length ?? 0;
    if (final === null) {
      if (partial !== null || decoding.samples >= REPORT_EVERY_SAMPLES) this.#report(decoding, partial);
      return;
    }
    this.#report(decoding, null);
    this.#answer({ kind: 'final', id, final });
    this.#drop(decoding);
  }

  #report(decoding: Decoding, partial: LivePartial | null): void {
    const { id, samples, busyMs } = decoding;
    this.#answer({ kind: 'decoded', id, samples, busyMs, partial });
    decoding.samples = 0;
    decoding.busyMs = 0;
  }

  /** An error of the decoder ends its segment only. */
  #attempt(id: number, act: () => void): void {
    try {
      act();
    } catch (error) {
      const decoding = this.#decodings.get(id);
      if (decoding) this.#drop(decoding);
      this.#answer({ kind: 'failed', id, reason: reasonOf(error) });
    }
  }

  #drop(decoding: Decoding): void {
    this.#decodings.delete(decoding.id);
    decoding.stream.close();
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function hasWork({ waiting, lengthSeconds }: Decoding): boolean {
  return waiting.length > 0 || lengthSeconds !== null;
}

/** Takes the samples of one turn; null when none wait. */
function nextSamples(waiting: Pcm[]): Pcm | null {
  const first = waiting.shift();
  if (first === undefined || first.length <= TURN_SAMPLES) return first ?? null;
  waiting.unshift(first.subarray(TURN_SAMPLES));
  return first.subarray(0, TURN_SAMPLES);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
