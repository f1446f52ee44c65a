import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { webmOfTinyPackets } from '../../../test/fixtures/audio/bombs.ts';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { jsonUpload, openJobFixture } from '../../../test/fixtures/job.ts';
import { openAudioServer, serveFile } from '../../../test/fixtures/servers/audio-server.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Account } from '../../accounts/account.ts';

// Too large for the thread that reads headers, and slow to parse.
const SLOW_BYTES = 30_000_000;

test('an account whose files are slow to probe does not delay those of another account', async () => {
  await using folder = await openTestFolder();
  const slow = webmOfTinyPackets(SLOW_BYTES);
  // Like the slow files, it is probed by a child process.
  const ordinary = await readFile(await folder.encode('a.aiff', new Int16Array(16_000)));
  await using server = await openAudioServer((request, response, index) =>
    serveFile(request.path === '/a.aiff' ? ordinary : slow)(request, response, index),
  );
  await using fixture = await openJobFixture({ AUDIO_URL_ALLOWED_TARGETS: `127.0.0.1/32:${server.port}` });
  const send = async (account: Account, file: string): Promise<string> => {
    const body = { audio_url: `${server.origin}/${file}`, async: true };
    return (await fixture.post(account, '/v1/transcribe', jsonUpload(body))).json.id;
  };
  const [hostile, other] = [await fixture.account(), await fixture.account()];
  const jobs: string[] = [];
  for (let count = 0; count < 2; count++) jobs.push(await send(hostile, 'slow.webm'));
  await fixture.startFetcher();
  const sizeOf = (name: string) => statSync(path.join(fixture.folder, name), { throwIfNoEntry: false })?.size;
  const areStored = async () => (await fixture.files()).filter((name) => sizeOf(name) === slow.length).length === 2;
  await until('the probes of both', areStored);

  const id = await send(other, 'a.aiff');
  await until('the ordinary file', async () => (await fixture.job(other, id)).queue_position !== undefined);

  const isFetched = async (job: string) => (await fixture.job(hostile, job)).queue_position !== undefined;
  assert.deepEqual(await Promise.all(jobs.map(isFetched)), [false, false]);
});
