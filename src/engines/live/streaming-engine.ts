import { type Engine, EngineError, type Pcm } from '../engine.ts';
import { joinPcm } from '../join-pcm.ts';
import { testTone } from '../silence.ts';
import type {
  LiveDecoder,
  LiveDecoderOptions,
  LiveEngine,
  LiveFinal,
  LiveSegmentDecoder,
  OnPartial,
} from './live-engine.ts';
import { LiveProcess, type LiveProcessSettings } from './live-process.ts';

export type StreamingEngineOptions = LiveProcessSettings &
  Pick<Engine, 'name' | 'languages' | 'features' | 'licence'> & {
    /** Each decodes on one core. */
    processes: number;
    /** Processor seconds for a second of speech, until some was decoded; null: what the test signal took. */
    assumedCost: number | null;
  };

// Of the processor time of the processes; the rest is for the peaks.
const USED_MAX = 0.7;
const COST_KNOWN_AFTER_SECONDS = 20;
const TEST_SIGNALS = 2;

/**
 * An engine that decodes speech while it comes: partial text after each step, and the final text at once at the end.
 */
export function streamingEngine(options: StreamingEngineOptions): LiveEngine {
  const { name, languages = null, features = [], licence = null } = options;
  const processes = Array.from({ length: options.processes }, () => new LiveProcess(options));
  return {
    name,
    languages,
    features,
    licence,
    warmUp: () => warmUp(processes[0]!),
    capacity: () => Math.max(1, Math.floor((USED_MAX * processes.length) / costOf(processes, options.assumedCost))),
    open: (asked) => new StreamingDecoder(processes, asked),
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

/** Processor seconds for a second of speech. */
function costOf(processes: LiveProcess[], assumed: number | null): number {
  const busySeconds = processes.reduce((sum, { cost }) => sum + cost.busySeconds, 0);
  const audioSeconds = processes.reduce((sum, { cost }) => sum + cost.audioSeconds, 0);
  return audioSeconds < COST_KNOWN_AFTER_SECONDS && assumed !== null ? assumed : busySeconds / audioSeconds;
}

async function warmUp(first: LiveProcess): Promise<void> {
  await first.start();
  await new Promise<void>((resolve, reject) => {
    const id = first.open(null, { partial: () => undefined, final: () => resolve(), failed: reject });
    for (let signal = 0; signal < TEST_SIGNALS; signal++) first.write(id, testTone());
    first.end(id, TEST_SIGNALS);
  });
}

class StreamingDecoder implements LiveDecoder {
  readonly #processes: LiveProcess[];
  readonly #asked: LiveDecoderOptions;
  readonly #open = new Set<StreamingSegment>();

  constructor(processes: LiveProcess[], asked: LiveDecoderOptions) {
    this.#processes = processes;
    this.#asked = asked;
  }

  segment(onPartial: OnPartial | null): LiveSegmentDecoder {
    const process = this.#processes.reduce((least, one) => (one.segments < least.segments ? one : least));
    const segment = new StreamingSegment(process, {
      language: this.#asked.language,
      onPartial,
      onOver: () => this.#open.delete(segment),
    });
    this.#open.add(segment);
    return segment;
  }

  backlogSeconds(): number {
    return this.#open.values().reduce((sum, segment) => sum + segment.backlogSeconds(), 0);
  }

  close(): void {
    for (const segment of this.#open) segment.close();
  }
}

type SegmentOptions = {
  language: string | null;
  onPartial: OnPartial | null;
  onOver(): void;
};

class StreamingSegment implements LiveSegmentDecoder {
  readonly #process: LiveProcess;
  readonly #options: SegmentOptions;
  readonly #id: number;
  readonly #final = Promise.withResolvers<LiveFinal>();
  #frames: Pcm[] = [];

  constructor(process: LiveProcess, options: SegmentOptions) {
    this.#process = process;
    this.#options = options;
    // A segment that fails before its end is reported there.
    this.#final.promise.catch(() => undefined);
    this.#id = process.open(options.language, {
      partial: (partial) => options.onPartial?.(partial),
      final: (final) =>
        this.#over(() => this.#final.resolve({ ...final, language: final.language ?? options.language })),
      failed: (error: EngineError) => this.#over(() => this.#final.reject(error)),
    });
  }

  write(frame: Pcm): void {
    // The frames of a message come in one turn of the loop and are sent as one.
    if (this.#frames.length === 0) queueMicrotask(() => this.#flush());
    this.#frames.push(frame);
  }

  end(lengthSeconds: number): Promise<LiveFinal> {
    this.#flush();
    this.#process.end(this.#id, lengthSeconds);
    return this.#final.promise;
  }

  close(): void {
    this.#frames = [];
    this.#process.close(this.#id);
    this.#over(() => this.#final.reject(new EngineError('engine_error', 'The session has ended.')));
  }

  backlogSeconds(): number {
    return this.#process.backlogSeconds(this.#id);
  }

  #flush(): void {
    const frames = this.#frames;
    this.#frames = [];
    if (frames.length > 0) this.#process.write(this.#id, joinPcm(frames));
  }

  #over(settle: () => void): void {
    this.#options.onOver();
    settle();
  }
}
