import assert from 'node:assert/strict';
import test from 'node:test';
import { EditSession, type SegmentChange } from './edit-session.ts';

const ORIGINAL = ['one', 'two', 'three'];

/** A service that keeps texts, and a clock that the test moves. */
function openEnvironment() {
  const texts = [...ORIGINAL];
  const saved: SegmentChange[][] = [];
  let timer: { delayMs: number; callback: () => void } | null = null;
  let failure: Error | null = null;
  let paused: PromiseWithResolvers<void> | null = null;
  const session = new EditSession([...texts], {
    read: async () => [...texts],
    async save(changes) {
      await paused?.promise;
      if (failure !== null) throw failure;
      saved.push(changes);
      for (const { index, text } of changes) texts[index] = text ?? ORIGINAL[index]!;
      return [...texts];
    },
    later(delayMs, callback) {
      timer = { delayMs, callback };
      return () => (timer = null);
    },
  });
  return {
    texts,
    saved,
    session,
    kind: (index: number) => session.of(index)?.kind,
    fail: (cause: Error | null) => (failure = cause),
    pause: () => (paused = Promise.withResolvers()),
    resume: () => paused?.resolve(),
    /** Lets the time pass until the session saves. */
    async elapse() {
      assert.equal(timer?.delayMs, 800);
      timer?.callback();
      await session.flush();
    },
    hasTimer: () => timer !== null,
  };
}

test('a text is saved when typing pauses, and only once', async () => {
  const { session, elapse, saved, kind, hasTimer } = openEnvironment();

  session.type(1, 'tw');
  session.type(1, 'two!');
  assert.deepEqual([kind(1), session.isUnsaved, saved], ['waiting', true, []]);
  await elapse();
  await session.flush();

  assert.deepEqual([kind(1), session.isUnsaved], ['saved', false]);
  assert.deepEqual(saved, [[{ index: 1, text: 'two!' }]]);
  assert.deepEqual([session.stored, hasTimer()], [['one', 'two!', 'three'], false]);
});

test('opening a segment and leaving it as it was saves nothing', async () => {
  const { session, saved } = openEnvironment();

  session.type(0, 'one');
  await session.flush();

  assert.deepEqual([session.of(0), saved], [undefined, []]);
});

test('what is typed while a request runs is sent by the next one', async () => {
  const { session, pause, resume, saved, kind, elapse } = openEnvironment();
  pause();
  session.type(0, 'first');
  const running = session.flush();
  await Promise.resolve();
  session.type(0, 'second');
  session.type(2, 'third');
  resume();
  await running;
  assert.deepEqual([kind(0), saved], ['waiting', [[{ index: 0, text: 'first' }]]]);

  await elapse();

  assert.deepEqual(saved[1], [
    { index: 0, text: 'second' },
    { index: 2, text: 'third' },
  ]);
  assert.equal(session.isUnsaved, false);
});

test('a change from elsewhere is shown, and never overwritten without a question', async () => {
  const { session, texts, saved, kind } = openEnvironment();
  session.type(0, 'mine');
  session.type(1, 'also mine');
  texts[0] = 'theirs';

  await session.flush();
  assert.deepEqual(session.of(0), { kind: 'conflict', text: 'mine', theirs: 'theirs' });
  assert.deepEqual([kind(1), texts], ['saved', ['theirs', 'also mine', 'three']]);
  await session.flush();
  session.type(0, 'mine again');
  await session.flush();
  assert.deepEqual([kind(0), texts[0]], ['conflict', 'theirs']);

  await session.resolve(0, 'mine');
  assert.deepEqual([kind(0), texts[0], saved.length], ['saved', 'mine again', 2]);
});

test('a conflict can end with the text of the other side', async () => {
  const { session, texts, saved } = openEnvironment();
  session.type(0, 'mine');
  texts[0] = 'theirs';
  await session.flush();

  await session.resolve(0, 'theirs');

  assert.deepEqual([session.of(0), session.stored[0], session.isUnsaved, saved], [undefined, 'theirs', false, []]);
});

test('a change of another segment comes with the answer', async () => {
  const { session, texts } = openEnvironment();
  texts[2] = 'changed elsewhere';
  session.type(0, 'mine');

  await session.flush();

  assert.deepEqual(session.stored, ['mine', 'two', 'changed elsewhere']);
});

test('a text that could not be saved is kept and sent again', async () => {
  const { session, fail, saved, kind } = openEnvironment();
  fail(new Error('offline'));
  session.type(0, 'kept');

  await session.flush();
  const edit = session.of(0);
  assert.ok(edit?.kind === 'failed' && edit.text === 'kept' && (edit.error as Error).message === 'offline');
  assert.equal(session.isUnsaved, true);

  fail(null);
  await session.flush();
  assert.deepEqual([kind(0), saved], ['saved', [[{ index: 0, text: 'kept' }]]]);
});

test('the original comes back by a change to null', async () => {
  const { session, texts, saved } = openEnvironment();
  session.type(0, 'edited');
  await session.flush();

  await session.restore(0, 'one');

  assert.deepEqual(
    [saved[1], texts[0], session.of(0)],
    [[{ index: 0, text: null }], 'one', { kind: 'saved', text: 'one' }],
  );
});
