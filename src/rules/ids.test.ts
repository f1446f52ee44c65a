import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { eventIdOfJob, isId, newId, timeOfId } from './ids.ts';

const ZEROS = new Uint8Array(10);

test('an id is its prefix, ten characters of time and sixteen of chance', () => {
  assert.equal(newId('job', 0, ZEROS), `job_${'0'.repeat(26)}`);
  assert.equal(newId('wh', 1, new Uint8Array(10).fill(255)), `wh_0000000001${'z'.repeat(16)}`);
  assert.equal(newId('evt', 32 ** 10 - 1, ZEROS), `evt_${'z'.repeat(10)}${'0'.repeat(16)}`);
});

test('an id with too little chance is refused', () => {
  assert.throws(() => newId('job', 0, new Uint8Array(9)), RangeError);
});

const GOOD = `job_${'0123456789'}${'abcdefghjkmnpqrs'}`;
const NO_IDS = [
  ...['', 'job', 'job_', GOOD.slice(0, -1), `${GOOD}0`, GOOD.toUpperCase(), GOOD.replace('job', 'evt'), ` ${GOOD}`],
  ...[`${GOOD}\n`, GOOD.replace('a', 'i'), GOOD.replace('a', 'l'), GOOD.replace('a', 'o'), GOOD.replace('a', 'u')],
  ...[GOOD.replace('a', '\u0000'), GOOD.replace('_', '-'), GOOD.replace('a', "'"), GOOD.replace('job', 'JOB')],
];

test('only the exact shape is an id', () => {
  assert.equal(isId('job', GOOD), true);
  assert.deepEqual(
    NO_IDS.filter((text) => isId('job', text)),
    [],
  );
});

test('ids sort by time and have the shape of ids', () => {
  const random = randomFrom(26);
  for (let i = 0; i < 2_000; i++) {
    const chance = () => Uint8Array.from({ length: 10 }, () => random.integer(256));
    const nowMs = random.integer(2 ** 43);
    const [earlier, later] = [newId('dlv', nowMs, chance()), newId('dlv', nowMs + 1, chance())];

    assert.ok(earlier < later);
    assert.equal(timeOfId(earlier), nowMs);
    assert.ok(isId('dlv', earlier) && isId('dlv', later));
  }
});

test("a job's event has an id of its own for each type, with the job's time", () => {
  const job = newId('job', 1_700_000_000_000, new Uint8Array(10).fill(7));
  const completed = eventIdOfJob(job, 'transcription.completed');

  assert.equal(completed, eventIdOfJob(job, 'transcription.completed'));
  assert.notEqual(completed, eventIdOfJob(job, 'transcription.failed'));
  assert.ok(isId('evt', completed));
  assert.equal(timeOfId(completed), 1_700_000_000_000);
});
