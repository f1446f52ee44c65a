import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import type { Worker } from 'node:worker_threads';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { TranscriptJob } from '../transcript.ts';
import { runTask, type TaskCaller } from './run-task.ts';

const STYLE = { hasNames: false };
// A PDF of these takes some ten seconds of processor time.
const MANY_WORDS = 200_000;

/** A job of the account with so many different words. */
function jobOf(accountId: string, words = 10): TranscriptJob {
  const segments = Array.from({ length: words / 10 }, (_, segment) => ({
    start: segment * 10,
    text: Array.from({ length: 10 }, (_word, at) => `word${(segment * 10 + at).toString(36)}`).join(' '),
  }));
  return {
    accountId,
    id: 'job_1',
    createdAt: new Date(0),
    durationMs: 1_000,
    model: null,
    language: 'en',
    detectedLanguage: null,
    options: {},
    title: 'A talk',
    segments: JSON.stringify(segments),
  } as unknown as TranscriptJob;
}

/** A caller that hangs up with `hangUp`. */
function openCaller(given: Partial<TaskCaller> = {}) {
  const over = new AbortController();
  return {
    caller: { clock: systemClock, signal: over.signal, ...given },
    hangUp: () => over.abort(new Error('hung up')),
  };
}

const nextThread = async () => ((await once(process, 'worker')) as [Worker])[0];

test('a thread ends when its caller hangs up, and the next task of the account begins', async () => {
  const { caller, hangUp } = openCaller();
  const starting = nextThread();
  const task = runTask(caller, 'renderPdf', jobOf('acct_1', MANY_WORDS), STYLE);
  const thread = await starting;
  const ended = once(thread, 'exit');
  hangUp();

  await assert.rejects(task, /hung up/);
  await ended;
  const next = await runTask(openCaller().caller, 'renderPdf', jobOf('acct_1'), STYLE);
  assert.equal(next.kind, 'file');
});

test('a task whose caller hangs up before its turn never begins', async () => {
  const [first, second] = [openCaller(), openCaller()];
  const starting = nextThread();
  const running = runTask(first.caller, 'renderPdf', jobOf('acct_1', MANY_WORDS), STYLE);
  await starting;
  const waiting = runTask(second.caller, 'renderPdf', jobOf('acct_1'), STYLE);
  second.hangUp();

  await assert.rejects(waiting, /hung up/);
  first.hangUp();
  await assert.rejects(running, /hung up/);
});

test('a task that takes too long for its length is answered 503, and its thread ends', async () => {
  const manual = openManualClock();
  const deadlines: number[] = [];
  const sleep: Clock['sleep'] = (ms, signal) => {
    deadlines.push(ms);
    return manual.sleep(ms, signal);
  };
  const clock = { now: manual.now, sleep };
  const job = jobOf('acct_1', MANY_WORDS);
  const starting = nextThread();
  const task = runTask(openCaller({ clock }).caller, 'renderPdf', job, STYLE);
  const thread = await starting;
  const ended = once(thread, 'exit');
  const refused = assert.rejects(task, { type: 'unavailable', status: 503, headers: { 'retry-after': '60' } });
  await manual.advance(deadlines[0]!);

  await refused;
  await ended;
  assert.deepEqual(deadlines, [Math.min(300_000, 20_000 + 0.08 * job.segments!.length)]);
});

test('those who have links take no thread of an account', async () => {
  const links = ['acct_1', 'acct_2'].map((account) => ({ account, ...openCaller({ hasLink: true }) }));
  const ended: string[] = [];
  const note = (name: string) => () => void ended.push(name);
  const running: Promise<void>[] = [];
  for (const { account, caller } of links) {
    const starting = nextThread();
    running.push(runTask(caller, 'renderPdf', jobOf(account, MANY_WORDS), STYLE).then(note('link'), note('link')));
    await starting;
  }

  await runTask(openCaller().caller, 'renderDocx', jobOf('acct_3'), STYLE).then(note('key'));
  for (const { hangUp } of links) hangUp();
  await Promise.all(running);

  assert.deepEqual(ended, ['key', 'link', 'link']);
});
