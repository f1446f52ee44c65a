import assert from 'node:assert/strict';
import test from 'node:test';
import type { Engine, Pcm, TranscribeOptions, Transcript } from '../engine.ts';
import { EngineError, SAMPLE_RATE } from '../engine.ts';

/** An engine on trial: opened for one test, with speech that it knows how to read. Two slots. */
export type Candidate = AsyncDisposable & {
  engine: Engine;
  /** Speech of a few seconds, and what the transcript's text must match. */
  speech: Pcm;
  expected: RegExp;
  /** From now on calls never end by themselves; nothing to do where they are slow enough. */
  stall(): void;
  /** From now on calls are answered again. */
  unstall(): void;
  /** Ends what runs the calls under way, as a crash would; resolves when that has been noticed. */
  crash(): Promise<void>;
  /** Ids of the processes it runs in; none for a remote engine. */
  processes(): number[];
  isRunning(pid: number): boolean;
};

const NO_SPEECH: [string, Pcm][] = [
  ['no samples', new Int16Array(0)],
  ['20 samples', new Int16Array(20).fill(5000)],
  ['a twentieth of a second', new Int16Array(SAMPLE_RATE / 20).fill(5000)],
  ['two seconds of zeros', new Int16Array(2 * SAMPLE_RATE)],
  ['a minute of faint noise', Int16Array.from({ length: 60 * SAMPLE_RATE }, (_, at) => 60 * Math.sin(at * at))],
];

/** The tests that every engine passes. Imported by tests only. */
export function testConformance(name: string, open: () => Promise<Candidate>): void {
  test(`${name} gives text with times in order, inside the piece`, async () => {
    await using candidate = await open();
    await candidate.engine.warmUp();

    const transcript = await candidate.engine.transcribe(candidate.speech, asked());

    assert.match(textOf(transcript), candidate.expected);
    assertTimes(transcript, candidate.speech.length / SAMPLE_RATE);
  });

  for (const [what, piece] of NO_SPEECH) {
    test(`${name} finds nothing in ${what}`, async () => {
      await using candidate = await open();

      const transcript = await candidate.engine.transcribe(piece, asked());

      assert.equal(textOf(transcript), '');
    });
  }

  test(`${name} answers more calls than it has slots`, async () => {
    await using candidate = await open();
    const calls = Array.from({ length: 5 }, () => candidate.engine.transcribe(candidate.speech, asked()));

    const transcripts = await Promise.all(calls);

    for (const transcript of transcripts) assert.match(textOf(transcript), candidate.expected);
  });

  test(`${name} ends an aborted call with the signal's reason, and takes the next`, async () => {
    await using candidate = await open();
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    await candidate.engine.warmUp();

    candidate.stall();
    const call = candidate.engine.transcribe(candidate.speech, asked({ signal: controller.signal }));
    controller.abort(reason);

    await assert.rejects(call, reason);
    candidate.unstall();
    assert.match(textOf(await candidate.engine.transcribe(candidate.speech, asked())), candidate.expected);
  });

  test(`${name} refuses a call that was aborted before it began`, async () => {
    await using candidate = await open();
    const reason = new Error('too late');

    await assert.rejects(
      candidate.engine.transcribe(candidate.speech, asked({ signal: AbortSignal.abort(reason) })),
      reason,
    );
  });

  test(`${name} ends a call that takes too long, and takes the next`, async () => {
    await using candidate = await open();
    await candidate.engine.warmUp();

    candidate.stall();
    const call = candidate.engine.transcribe(candidate.speech, asked({ timeoutMs: 1 }));

    await assert.rejects(call, isEngineError('engine_timeout'));
    candidate.unstall();
    assert.match(textOf(await candidate.engine.transcribe(candidate.speech, asked())), candidate.expected);
  });

  test(`${name} reports a crash to the call it befell, and takes the next`, async () => {
    await using candidate = await open();
    await candidate.engine.warmUp();

    candidate.stall();
    const call = assert.rejects(candidate.engine.transcribe(candidate.speech, asked()), isEngineError('engine_error'));
    await candidate.crash();

    await call;
    candidate.unstall();
    assert.match(textOf(await candidate.engine.transcribe(candidate.speech, asked())), candidate.expected);
  });

  test(`${name} leaves no process behind and ends what is under way when it is closed`, async () => {
    const candidate = await open();
    await candidate.engine.warmUp();
    const processes = candidate.processes();

    candidate.stall();
    const call = assert.rejects(candidate.engine.transcribe(candidate.speech, asked()), isEngineError('engine_error'));
    await candidate.engine[Symbol.asyncDispose]();

    await call;
    await assert.rejects(candidate.engine.transcribe(candidate.speech, asked()), isEngineError('engine_error'));
    assert.deepEqual(processes.filter(candidate.isRunning), []);
    await candidate[Symbol.asyncDispose]();
  });
}

/** What a test asks for where it does not matter. */
export function asked(overrides: Partial<TranscribeOptions> = {}): TranscribeOptions {
  return { language: null, timeoutMs: 120_000, signal: new AbortController().signal, ...overrides };
}

/** All text of a transcript in one line. */
export function textOf({ segments }: Transcript): string {
  return segments.map((segment) => segment.text).join(' ');
}

export function isEngineError(type: EngineError['type']): (error: unknown) => boolean {
  return (error) => error instanceof EngineError && error.type === type && /^[A-Z].*\.$/.test(error.message);
}

function assertTimes({ segments }: Transcript, pieceSeconds: number): void {
  const words = segments.flatMap((segment) => segment.words);
  for (const spans of [segments, words]) {
    const times = spans.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
    );
    assert.ok(times.every((seconds) => seconds >= 0 && seconds <= pieceSeconds));
  }
  for (const segment of segments) assert.ok(segment.endSeconds > segment.startSeconds);
}
