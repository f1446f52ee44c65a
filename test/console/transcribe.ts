import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { until } from '../fixtures/until.ts';
import type { Flow } from './harness/flow.ts';
import { choose } from './harness/menu.ts';
import { signInWithKey } from './harness/sign-in.ts';

/** Pictures for a minute, and audio for 2 s. */
function shortAudioVideo(): Buffer {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'video-'));
  const file = path.join(folder, 'talk.mp4');
  const inputs = ['-f', 'lavfi', '-i', 'color=black:s=64x64:r=1:d=60', '-f', 'lavfi', '-i', 'sine=frequency=440:d=2'];
  execFileSync('ffmpeg', ['-v', 'error', ...inputs, '-c:v', 'mpeg4', '-c:a', 'aac', file]);
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  return bytes;
}

const wav = (name: string, words: string) => ({ name, mimeType: 'audio/wav', buffer: toneWav(words) });

export const flows: Flow[] = [
  {
    title: 'several files are sent with the options; the cost is shown before',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account({ credits: 10 });
      await open(key, '/transcribe');

      const files = ['hello', 'world', 'hello world', 'a b'].map((words, index) => wav(`${index}.wav`, words));
      const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no audio') };
      await page.getByLabel('Choose files').setInputFiles([...files, notes]);
      await page.getByText('1 file was left out').waitFor();
      await page.getByText(/of audio cost \S+ credits on pro; the balance is 10\./).waitFor();
      await page.getByLabel('Plan').selectOption('lite');
      await page.getByText(/credits on lite/).waitFor();
      await page.getByText('Words, track, metadata').click();
      await page.getByLabel('Metadata').fill('{ "order": 12345678901234567890');
      await page.getByRole('alert').filter({ hasText: 'Metadata: That is not JSON' }).waitFor();
      await page.getByLabel('Metadata').fill('{ "order": 12345678901234567890 }');
      await page.getByText('33 of 4096 bytes').waitFor();
      await page.getByLabel('Replacements').fill('world = planet');
      await page.getByLabel('Title').fill('שיחה');
      await page.getByLabel('Tags').fill('board, 2026,');
      await page.getByLabel('Times of words').check();
      // The engine of these plans has neither.
      assert.equal(await page.locator('input[name=translate], input[name=diarize]').count(), 0);
      await checkView('transcribe-files');

      await page.getByRole('button', { name: 'Transcribe 4 files' }).click();
      await until('4 jobs', async () => (await api.jobs.list({ status: 'completed' })).data.length === 4);

      const { data } = await api.jobs.list();
      const job = await api.jobs.get(data.find(({ audio }) => audio.filename === '2.wav')!.id);
      assert.deepEqual(
        [job.plan, job.text, job.metadataText, job.options.timestamps],
        ['lite', 'hello planet', '{ "order": 12345678901234567890 }', 'word'],
      );
      assert.deepEqual([job.title, job.tags], ['שיחה', ['board', '2026']]);
      const row = page.locator('tr', { hasText: '2.wav' });
      const saving = page.waitForEvent('download');
      await row.getByRole('button', { name: 'srt' }).click();
      assert.equal((await saving).suggestedFilename(), `${job.id}.srt`);
      await row.getByRole('link', { name: '2.wav' }).click();
      await page.waitForURL((url) => url.hash === `#/jobs/${job.id}`);
    },
  },
  {
    title: 'a video costs what its audio costs, also where the pictures go on for longer',
    async run({ page, account, open }) {
      const { key } = await account({ credits: 10 });
      await open(key, '/transcribe');

      const video = { name: 'talk.mp4', mimeType: 'video/mp4', buffer: shortAudioVideo() };
      await page.getByLabel('Choose files').setInputFiles([video]);

      await page.getByText(/^0:02 of audio cost /).waitFor();
    },
  },
  {
    title: 'files that one account chose are not sent by the next',
    async run({ page, account, open }) {
      const [one, two] = [await account(), await account()];
      await open(one.key, '/transcribe');
      await page.getByLabel('Choose files').setInputFiles([wav('one.wav', 'hello')]);
      await page.getByRole('cell', { name: 'one.wav', exact: true }).waitFor();

      await choose(page, 'Account menu', 'Sign out');
      await signInWithKey(page, two.key);

      await page.getByText('Drop audio or video files').waitFor();
      assert.equal(await page.getByRole('cell', { name: 'one.wav', exact: true }).count(), 0);
    },
  },
  {
    title: 'a long name of a file does not make the page wider',
    async run({ page, account, open }) {
      const { key } = await account();
      await open(key, '/transcribe');

      await page.getByLabel('Choose files').setInputFiles([wav(`${'x'.repeat(200)}.wav`, 'hello')]);

      await page.getByRole('table', { name: 'Uploads' }).waitFor();
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    },
  },
  {
    title: 'an upload that is cut goes on with the same key, and makes one job',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await open(key, '/transcribe');
      const keys: string[] = [];
      await page.route('/v1/transcribe', async (route) => {
        keys.push(route.request().headers()['idempotency-key']!);
        // The request arrives; its answer is lost.
        if (keys.length === 1) {
          await route.fetch();
          await route.abort('connectionreset');
        } else await route.continue();
      });

      await page.getByLabel('Choose files').setInputFiles([wav('cut.wav', 'hello')]);
      await page.getByRole('button', { name: 'Transcribe 1 file' }).click();
      await page.getByRole('link', { name: 'cut.wav' }).waitFor();

      assert.equal(keys.length, 2);
      assert.equal(new Set(keys).size, 1);
      assert.equal((await api.jobs.list()).data.length, 1);
    },
  },
  {
    title: 'an upload that was paused while it waited to try again can be paused again',
    async run({ page, account, open }) {
      const { key } = await account();
      await open(key, '/transcribe');
      await page.evaluate(() => {
        const later = setTimeout;
        const test = globalThis as unknown as { setTimeout: unknown; tryAgain: () => void };
        test.setTimeout = (callback: () => void, delayMs: number) => {
          if (delayMs === 1_000) test.tryAgain = callback;
          else return later(callback, delayMs);
        };
      });
      const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let sent = 0;
      await page.route('/v1/transcribe', async (route) => {
        if (++sent > 1) return second.resolve();
        await route.abort('connectionreset');
        first.resolve();
      });
      await page.getByLabel('Choose files').setInputFiles([wav('held.wav', 'hello')]);
      await page.getByRole('button', { name: 'Transcribe 1 file' }).click();
      await first.promise;
      await page.waitForFunction(() => 'tryAgain' in globalThis);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();
      await second.promise;
      await page.evaluate(() => (globalThis as unknown as { tryAgain: () => void }).tryAgain());

      const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/v1/transcribe'));
      await page.getByRole('button', { name: 'Pause' }).click();

      await ended;
    },
  },
  {
    title: 'what the API refuses is shown as it says, and can be tried again',
    async run({ page, account, service, open }) {
      const { id, key } = await account({ credits: 0.001 });
      await open(key, '/transcribe');

      await page.getByLabel('Choose files').setInputFiles([wav('dear.wav', 'hello world')]);
      await page.getByText('The balance does not cover all files.').waitFor();
      await page.getByRole('button', { name: 'Transcribe 1 file' }).click();
      const problem = page.getByRole('alert');
      await problem.getByText('insufficient_balance').waitFor();
      await problem.getByText(/req_/).waitFor();

      await fetch(`${service.baseUrl}/admin/v1/accounts/${id}/credits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ amount: 10 }),
      });
      await page.getByRole('button', { name: 'Try dear.wav again' }).click();
      await page.getByRole('link', { name: 'dear.wav' }).waitFor();
    },
  },
  {
    title: 'beyond the rate limit the queue counts down, and then goes on; a pause stops it',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await open(key, '/transcribe');
      let answers = 0;
      await page.route('/v1/transcribe', async (route) => {
        if (++answers > 1) return await route.continue();
        const error = { message: 'Too many requests.', code: 429, type: 'rate_limited' };
        const body = JSON.stringify({ error, retry_after: 2, request_id: 'req_1' });
        await route.fulfill({ status: 429, headers: { 'retry-after': '2' }, contentType: 'application/json', body });
      });

      await page.getByLabel('Choose files').setInputFiles([wav('late.wav', 'hello')]);
      await page.getByRole('button', { name: 'Transcribe 1 file' }).click();
      await page
        .getByRole('timer')
        .getByText(/continue in \d s/)
        .waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('timer').waitFor({ state: 'detached' });
      assert.equal(answers, 1);

      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('link', { name: 'late.wav' }).waitFor();
      assert.equal((await api.jobs.list()).data.length, 1);
    },
  },
  {
    title: 'the microphone is recorded, with its permission explained',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await open(key, '/transcribe');

      await page.getByText('From the microphone').click();
      await page.getByText('The browser asks for permission').waitFor();
      await page.getByRole('button', { name: 'Record' }).click();
      await page.getByRole('timer').getByText('0:01').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Transcribe 1 file' }).click();

      await page.getByRole('link', { name: /recording-.*\.webm/ }).waitFor();
      const { data } = await api.jobs.list();
      assert.match(data[0]!.audio.filename!, /^recording-.*\.webm$/);
    },
  },
  {
    title: 'the microphone is released when the view is left before its permission is given',
    async run({ page, account, open }) {
      const { key } = await account();
      await open(key, '/transcribe');
      await page.evaluate(() => {
        const { mediaDevices } = navigator;
        const ask = mediaDevices.getUserMedia.bind(mediaDevices);
        const allowed = Promise.withResolvers<void>();
        const test = globalThis as unknown as { allow: () => void; track?: MediaStreamTrack };
        test.allow = allowed.resolve;
        mediaDevices.getUserMedia = async (wanted) => {
          await allowed.promise;
          const stream = await ask(wanted);
          test.track = stream.getAudioTracks()[0]!;
          return stream;
        };
      });
      await page.getByText('From the microphone').click();
      await page.getByRole('button', { name: 'Record' }).click();
      assert.equal(await page.getByRole('button', { name: 'Record' }).getAttribute('aria-busy'), 'true');
      await page.getByRole('link', { name: 'Jobs', exact: true }).click();
      await page.getByRole('button', { name: 'Record' }).waitFor({ state: 'detached' });

      await page.evaluate(() => (globalThis as unknown as { allow: () => void }).allow());

      const state = () => (globalThis as unknown as { track?: MediaStreamTrack }).track?.readyState;
      await until('the microphone to be released', async () => (await page.evaluate(state)) === 'ended');
      await page.getByRole('link', { name: 'Transcribe', exact: true }).first().click();
      await page.getByText('From the microphone').waitFor();
      assert.equal(await page.getByRole('table', { name: 'Uploads' }).count(), 0);
    },
  },
  {
    title: 'audio is fetched from a URL',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await open(key, '/transcribe');

      await page.getByText('From a URL').click();
      await page.getByRole('textbox', { name: 'URL' }).fill('https://media.example.com/call.mp3?token=secret');
      await page.getByLabel('Headers').fill('no header');
      await page.getByRole('button', { name: 'Add' }).click();
      await page.getByText('Each line is a name, a colon and a value.').waitFor();
      await page.getByLabel('Headers').fill('Authorization: Bearer 1');
      await page.getByRole('button', { name: 'Add' }).click();
      await page.getByRole('button', { name: 'Transcribe 1 file' }).click();

      await page.getByRole('link', { name: 'https://media.example.com/call.mp3' }).waitFor();
      assert.equal((await api.jobs.list()).data[0]!.audio.source, 'https://media.example.com/call.mp3');
    },
  },
];
