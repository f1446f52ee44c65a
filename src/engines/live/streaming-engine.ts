import type { Engine } from '../engine.ts';
import { testTone } from '../silence.ts';
import type { LiveDecoder, LiveDecoderOptions, LiveEngine, LiveSegmentDecoder, OnPartial } from './live-engine.ts';
import { LiveProcess, type LiveProcessSettings, type ProcessSegment } from './live-process.ts';

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
  const segment = first.open(null, null);
  for (let signal = 0; signal < TEST_SIGNALS; signal++) segment.write(testTone());
  await segment.end(TEST_SIGNALS);
}

class StreamingDecoder implements LiveDecoder {
  readonly #processes: LiveProcess[];
  readonly #asked: LiveDecoderOptions;
  readonly #open = new Set<ProcessSegment>();

  constructor(processes: LiveProcess[], asked: LiveDecoderOptions) {
    this.#processes = processes;
    this.#asked = asked;
  }

  segment(onPartial: OnPartial | null): LiveSegmentDecoder {
    const process = this.#processes.reduce((least, one) => (one.segments < least.segments ? one : least));
    const segment = process.open(this.#asked.language, onPartial);
    this.#open.add(segment);
    const forget = () => void this.#open.delete(segment);
    segment.final.promise.then(forget, forget);
    return segment;
  }

  backlogSeconds(): number {
    return this.#open.values().reduce((sum, segment) => sum + segment.backlogSeconds(), 0);
  }

  close(): void {
    for (const segment of this.#open) segment.close();
  }
}
