import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { openHeaderProbe } from './header-probe.ts';

const HOSTILE = new URL('../../../test/fixtures/audio/hostile-probe-thread.ts', import.meta.url);
// Several times what the start of a thread takes on a busy machine.
const MAX_MS = 5_000;

test('files that wait behind one that hangs are read', async () => {
  await using folder = await openTestFolder();
  const probe = openHeaderProbe({ module: HOSTILE, maxMs: MAX_MS });
  const names = ['fine', 'spin', 'a', 'b', 'throw', 'c'];
  const paths = await Promise.all(names.map((name) => folder.write(name, 'x')));

  const headers = await Promise.all(paths.map((path) => probe({ path })));

  assert.deepEqual(
    headers.map((header) => header?.seconds ?? null),
    [1, null, 1, 1, null, 1],
  );
});

test('a file that hangs or crashes the thread is left to ffprobe, and the next file is read', async (t) => {
  await using folder = await openTestFolder();
  const probe = openHeaderProbe({ module: HOSTILE, maxMs: MAX_MS });

  for (const name of ['spin', 'fill', 'throw']) {
    await t.test(name, async () => {
      assert.equal(await probe({ path: await folder.write(name, 'x') }), null);
      assert.equal((await probe({ path: await folder.write('fine', 'x') }))?.seconds, 1);
    });
  }
});
