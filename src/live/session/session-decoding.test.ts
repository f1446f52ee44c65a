import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { MemoryJournal, noisySpeech, openStubDecoder } from '../../../test/fixtures/live.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { LiveSegment } from '../../jobs/live/live-segment.ts';
import { SessionDecoding, type SessionDecodingOptions, type SessionEvents } from './session-decoding.ts';

const OPTIONS = {
  encoding: 'pcm_s16le',
  sampleRate: 16_000,
  endpointingMs: 600,
  maxSegmentSeconds: 8,
  partials: true,
  resumeSeconds: 60,
  idleSeconds: 300,
} as const;

type Journal = MemoryJournal;
type Row = SessionDecodingOptions['row'];

/** @param row  of a session that is continued */
function openSession(
  journal: Journal,
  {
    row,
    fails,
    ...changes
  }: Partial<Omit<SessionDecodingOptions, 'row'>> & { row?: Partial<Row>; fails?: (text: string) => boolean } = {},
) {
  const over = new AbortController();
  const heard = {
    causes: [] as unknown[],
    segments: [] as LiveSegment[],
    finalized: [] as unknown[],
    failed: 0,
    empty: 0,
    partials: 0,
  };
  const events: SessionEvents = {
    speechStarted: () => undefined,
    speechStopped: () => undefined,
    partial: () => void (heard.partials += 1),
    segment: (segment) => void heard.segments.push(segment),
    emptySegment: () => void (heard.empty += 1),
    finalized: (id, offset) => void heard.finalized.push([id, offset]),
    segmentFailed: () => void (heard.failed += 1),
  };
  const session = new SessionDecoding({
    row: { options: OPTIONS, durableBytes: 0, segments: 0, frame: 0, isSpeaking: false, ...row },
    over: over.signal,
    engine: {},
    journal,
    openDecoder: () => openStubDecoder(fails),
    events,
    turn: async () => undefined,
    onFailed: (cause) => void heard.causes.push(cause),
    ...changes,
  });
  return { session, heard, close: () => over.abort(null) };
}

/** Commits whatever the session waits for, until it has finished. */
async function finish(session: SessionDecoding, journal: Journal): Promise<void> {
  let isDone = false;
  const finishing = session.finish().then(() => {
    isDone = true;
  });
  while (!isDone) {
    journal.commit();
    await turnOfTheLoop();
  }
  await finishing;
}

/** What is durable, for the next process. */
function rowOf({ durable: { bytes, position, segments } }: Journal): Partial<Row> {
  return { ...position, durableBytes: bytes, segments: segments.length };
}

async function undisturbed(audio: Uint8Array): Promise<LiveSegment[]> {
  const journal = new MemoryJournal();
  const { session, heard } = openSession(journal);
  session.write(audio);
  await finish(session, journal);
  assert.deepEqual(heard.segments, journal.durable.segments);
  return heard.segments;
}

test('the segments are the same however the bytes are divided', async () => {
  const random = randomFrom(21);
  const audio = noisySpeech(random, 40);
  const expected = await undisturbed(audio);
  assert.ok(expected.length > 3);

  for (const sizes of [
    [1, 3],
    [100, 101],
    [3_200, 3_201],
    [65_536, 65_537],
  ] as const) {
    const journal = new MemoryJournal();
    const { session, heard } = openSession(journal);
    const part = audio.subarray(0, 400_000);
    for (let at = 0; at < part.length; ) {
      const size = sizes[random.integer(2)]!;
      session.write(part.subarray(at, Math.min(at + size, part.length)));
      at += size;
    }
    session.write(audio.subarray(part.length));
    await finish(session, journal);

    assert.deepEqual(heard.segments, expected);
  }
});

test('a session that crashes at random moments gives the segments of an undisturbed one, numbered without holes', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const random = randomFrom(seed);
    const audio = noisySpeech(random, 40);
    const expected = await undisturbed(audio);
    const journal = new MemoryJournal();
    let { session, heard, close } = openSession(journal);
    let seen: LiveSegment[] = [];
    while (journal.durable.bytes < audio.length) {
      const size = Math.min(1 + random.integer(60_000), audio.length - session.receivedBytes);
      session.write(audio.subarray(session.receivedBytes, session.receivedBytes + size));
      await turnOfTheLoop();
      if (random.integer(2) === 0) {
        journal.commit();
        await turnOfTheLoop();
      }
      if (random.integer(12) !== 0) continue;
      seen = [...seen, ...heard.segments.filter(({ number }) => number > seen.length)];
      close();
      journal.crash();
      ({ session, heard, close } = openSession(journal, { row: rowOf(journal) }));
      if (journal.durable.bytes > 0) await session.replay();
    }
    await finish(session, journal);

    assert.deepEqual(journal.durable.segments, expected, `seed ${seed}`);
    assert.deepEqual(seen, expected.slice(0, seen.length), `seed ${seed}: what a client saw changed`);
  }
});

test('a segment that is committed during a replay is not decoded again after the next crash', async () => {
  const random = randomFrom(21);
  const silence = new Uint8Array(4 * 32_000);
  const audio = Buffer.concat([noisySpeech(random, 2), silence, noisySpeech(random, 2), silence]);
  const expected = await undisturbed(audio);
  const journal = new MemoryJournal();
  const first = openSession(journal);
  first.session.write(audio);
  journal.commit();
  first.close();
  journal.crash();
  const resume = () => openSession(journal, { row: rowOf(journal) });
  const read = journal.read.bind(journal);
  journal.read = async function* (from, to) {
    yield* read(from, to / 2);
    // The next page of the audio comes late.
    while (journal.durable.segments.length === 0) {
      journal.commit();
      await turnOfTheLoop();
    }
    second.close();
  };
  const second = resume();
  await second.session.replay();
  journal.crash();
  journal.read = read;

  const third = resume();
  await third.session.replay();
  await finish(third.session, journal);

  assert.deepEqual(journal.durable.segments, expected);
});

test('a segment is decoded again from the journal when the engine fails, and has no text when it fails twice', async () => {
  const audio = noisySpeech(randomFrom(4), 20);
  const expected = await undisturbed(audio);
  for (const failures of [1, 2]) {
    const journal = new MemoryJournal();
    let left = failures;
    const fails = (text: string) => text === expected[0]!.text && left-- > 0;
    const { session, heard } = openSession(journal, { fails });
    session.write(audio);
    await finish(session, journal);

    const kept = failures === 1 ? expected : expected.slice(1);
    assert.deepEqual(
      heard.segments.map(({ text }) => text),
      kept.map(({ text }) => text),
    );
    assert.deepEqual([heard.failed, heard.empty], failures === 1 ? [0, 0] : [1, 1]);
  }
});

test('a segment is told only when it is durable, and finalized follows it', async () => {
  const journal = new MemoryJournal();
  const { session, heard } = openSession(journal);
  session.finalize('before speech');
  session.write(noisySpeech(randomFrom(9), 2));
  session.finalize('x');
  await turnOfTheLoop();
  assert.deepEqual([heard.segments, heard.finalized], [[], [['before speech', 0]]]);

  journal.commit();
  await turnOfTheLoop();

  assert.deepEqual(heard.segments, journal.durable.segments);
  assert.equal(heard.segments[0]?.reason, 'finalize');
  assert.deepEqual(heard.finalized, [
    ['before speech', 0],
    ['x', 64_000],
  ]);
});

test('a gap ends the segment, and later times count it', async () => {
  const random = randomFrom(5);
  const [before, after] = [noisySpeech(random, 1), noisySpeech(random, 1)];
  const journal = new MemoryJournal();
  const { session, heard } = openSession(journal);
  session.write(before);
  session.gap(3_200_000);
  session.write(after);
  await finish(session, journal);

  assert.equal(session.receivedBytes, 3_232_000);
  assert.deepEqual(
    heard.segments.map(({ startSeconds, reason }) => [Math.floor(startSeconds), reason]),
    [
      [0, 'endpoint'],
      [100, 'finish'],
    ],
  );
});

test('a gap costs no work however long it is', async () => {
  const journal = new MemoryJournal();
  const { session, heard } = openSession(journal);
  const years = 10_000 * 365 * 86_400 * 32_000;
  session.write(noisySpeech(randomFrom(5), 1));
  session.gap(years);
  session.write(noisySpeech(randomFrom(6), 1));
  await finish(session, journal);

  assert.deepEqual(
    heard.segments.map(({ startSeconds }) => Math.floor(startSeconds / 86_400 / 365)),
    [0, 10_000],
  );
});

test('a session with gaps that crashes at random moments gives the segments of an undisturbed one', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const random = randomFrom(seed);
    const parts = Array.from({ length: 12 }, () => ({
      audio: noisySpeech(random, 1 + random.integer(4)).subarray(random.integer(700)),
      gapBytes: 1 + random.integer(random.pick([500, 20_000, 400_000])),
    }));
    const play = async (crashes: boolean) => {
      const journal = new MemoryJournal();
      let { session, close } = openSession(journal);
      for (const { audio, gapBytes } of parts) {
        session.write(audio);
        session.gap(session.receivedBytes + gapBytes);
        await turnOfTheLoop();
        journal.commit();
        await turnOfTheLoop();
        if (!crashes || random.integer(2) === 0) continue;
        close();
        journal.crash();
        ({ session, close } = openSession(journal, { row: rowOf(journal) }));
        await session.replay();
      }
      await finish(session, journal);
      return journal.durable.segments;
    };

    assert.deepEqual(await play(true), await play(false), `seed ${seed}`);
  }
});

test('speech that was given up stays given up when another process goes on', async () => {
  const journal = new MemoryJournal();
  const { session, heard, close } = openSession(journal);
  session.write(noisySpeech(randomFrom(5), 2));
  session.discard(() => journal.commit());
  close();
  journal.crash();
  const next = openSession(journal, { row: rowOf(journal) });
  await next.session.replay();
  await finish(next.session, journal);

  assert.deepEqual([heard.segments, next.heard.segments], [[], []]);
});

test('speech without text is warned of once, also when another process goes on', async () => {
  const journal = new MemoryJournal();
  const decoder = openStubDecoder();
  const untranscribed = [{ startSeconds: 0, endSeconds: 1 }];
  const final = { text: '', words: [], confidence: null, language: null, untranscribed };
  const openDecoder = () => ({
    ...decoder,
    segment: () => ({ ...decoder.segment(null), end: async () => final }),
  });
  const { session, heard, close } = openSession(journal, { openDecoder });
  session.write(noisySpeech(randomFrom(5), 2));
  session.finalize(null);
  while (heard.empty === 0) await turnOfTheLoop();
  journal.commit();
  close();
  const next = openSession(journal, { openDecoder, row: rowOf(journal) });
  await next.session.replay();
  await finish(next.session, journal);

  assert.deepEqual(
    journal.warnings.map(({ code }) => code),
    ['untranscribed'],
  );
});

test('a session without audio finishes without a segment', async () => {
  const journal = new MemoryJournal();
  const { session, heard } = openSession(journal);

  await finish(session, journal);

  assert.deepEqual(heard.segments, []);
});

test('a session whose journal cannot be read when the engine has failed says so, and commits nothing more', async () => {
  const journal = new MemoryJournal();
  const { session, heard, close } = openSession(journal, { fails: () => true });
  const cause = new Error('away');
  journal.read = () => {
    throw cause;
  };
  session.write(noisySpeech(randomFrom(9), 2));
  session.finalize('x');
  while (heard.causes.length === 0) {
    journal.commit();
    await turnOfTheLoop();
  }
  close();

  assert.deepEqual(heard.causes, [cause, cause]);
  assert.deepEqual([heard.finalized, journal.durable.segments], [[], []]);
  assert.ok(journal.durable.position.frame < 100);
});

test('stored audio is read again in steps of a tenth of a second', async () => {
  const audio = noisySpeech(randomFrom(4), 20);
  const journal = new MemoryJournal();
  const first = openSession(journal);
  first.session.write(audio);
  first.close();
  journal.commit();
  let turns = 0;
  let most = 0;
  let sinceTurn = 0;
  const decoder = openStubDecoder();
  const second = openSession(journal, {
    // A cut gives what comes after it to the next segment at once.
    row: { options: { ...OPTIONS, maxSegmentSeconds: 30 }, durableBytes: audio.length },
    turn: async () => {
      turns += 1;
      most = Math.max(most, sinceTurn);
      sinceTurn = 0;
    },
    openDecoder: () => ({
      ...decoder,
      segment(onPartial) {
        const segment = decoder.segment(onPartial);
        return {
          ...segment,
          write(frame) {
            sinceTurn += 1;
            segment.write(frame);
          },
        };
      },
    }),
  });
  await second.session.replay();
  await finish(second.session, journal);

  assert.ok(turns >= 200, `${turns} turns`);
  // The frames before the start of a segment come with the first after it.
  assert.ok(most <= 50, `${most} frames in one turn`);
});
