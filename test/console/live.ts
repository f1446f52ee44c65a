import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openCuttingProxy } from '../fixtures/servers/cutting-proxy.ts';
import { until } from '../fixtures/until.ts';
import { SPOKEN } from './harness/fixture.ts';
import type { Flow } from './harness/flow.ts';
import { choose } from './harness/menu.ts';
import { signInWithKey } from './harness/sign-in.ts';

/** The texts that the page shows. A busy machine loses samples on their way to the page, so a word may be another. */
async function shownText(page: Page): Promise<string> {
  const lines = await page.getByRole('log').getByRole('listitem').allTextContents();
  return lines.map((line) => line.replace(/^\S+ /, '')).join(' ');
}

export const flows: Flow[] = [
  {
    title: 'keywords are offered where the engine of the plan takes them',
    async run({ page, account, open }) {
      const { key } = await account();
      await engineFeatures(page, { lite: ['words'], pro: ['words', 'keywords'] });
      await open(key, '/live');
      // The page may have the models of another flow.
      await page.reload();

      await page.getByLabel('Plan').selectOption('pro');
      await page.getByText('Keywords and context').click();
      await page.getByLabel('Keywords').fill('hello');
      assert.equal(await page.getByLabel('Context').count(), 0);
      await page.getByLabel('Plan').selectOption('lite');
      await page.getByText('Keywords and context').waitFor({ state: 'detached' });
    },
  },
  {
    title: 'words are shown while they are said, and the transcript is a job',
    async run({ page, account, open, checkView }) {
      const { key, api } = await account({ credits: 10 });
      await engineFeatures(page, { lite: ['keywords'], pro: [] });
      await open(key, '/live');
      // The page may have the models of another flow.
      await page.reload();
      await page.getByText('The browser asks for permission').waitFor();
      await page.getByLabel('Plan').selectOption('lite');
      await page.getByText('Keywords and context').click();
      await page.getByLabel('Keywords').fill('hello\nworld');
      await page.getByLabel('Title').fill('Stand-up');
      await page.getByLabel('Tags').fill('daily, board ,');
      await checkView('live-start');

      await page.getByRole('button', { name: 'Start' }).click();
      await page.locator('.live-open').getByText(/\w/).first().waitFor();
      await page.getByRole('log').getByText(SPOKEN).first().waitFor();
      const levels = new Set<string>();
      await until('the meter to move', async () => {
        levels.add((await page.getByRole('meter').getAttribute('value'))!);
        return levels.size >= 3;
      });
      assert.ok(await page.getByLabel('Plan').isDisabled());
      await checkView('live');
      await page.getByRole('button', { name: 'Stop' }).click();
      const link = page.getByRole('status').getByRole('link', { name: /^job_/ });
      const id = (await link.textContent())!;

      const job = await api.jobs.get(id);
      assert.deepEqual([job.status, job.plan, job.options.keywords], ['completed', 'lite', ['hello', 'world']]);
      assert.deepEqual([job.title, job.tags], ['Stand-up', ['daily', 'board']]);
      assert.equal(await shownText(page), job.text);
      assert.ok(job.text!.includes(SPOKEN));
      await page.getByRole('button', { name: 'Copy the text' }).click();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(copied.replaceAll('\n', ' '), job.text);
      await link.click();
      await page.waitForURL((url) => url.hash === `#/jobs/${id}`);
    },
  },
  {
    title: 'when the network goes, the text stays and what is said meanwhile comes later',
    // The proxy has a port of its own, and cuts what is under way.
    allowed: [/^request: http:\/\/127\.0\.0\.1/, /WebSocket connection to/],
    async run({ page, account, service, open }) {
      await using proxy = await openCuttingProxy(service.baseUrl);
      const { key, api } = await account();
      await open(key, '/live');
      await page.goto(`${proxy.url}/#/live`);
      await page.getByRole('button', { name: 'Start' }).click();
      const lines = page.getByRole('log').getByRole('listitem');
      await lines.filter({ hasText: SPOKEN }).first().waitFor();

      proxy.away(true);
      await page
        .getByText('The connection is lost. The audio is kept, and sent when the connection is back within a minute.')
        .waitFor();
      const before = await lines.count();
      await page.getByText(/^[4-9] s are waiting\./).waitFor();
      assert.equal(await lines.count(), before);
      proxy.away(false);
      await page.getByText('The connection is lost.').waitFor({ state: 'detached' });
      await until('what was said meanwhile', async () => (await lines.count()) >= before + 1);

      await page.getByRole('link', { name: 'Jobs', exact: true }).click();
      // The view releases the microphone.
      const job = await until('the job to end', async () => (await api.jobs.list({ status: 'completed' })).data[0]);
      const { text, warnings } = await api.jobs.get(job.id);
      assert.deepEqual(
        warnings.filter(({ code }) => code !== 'behind'),
        [],
      );
      await page.getByRole('link', { name: 'Live', exact: true }).click();
      await page.getByRole('link', { name: job.id }).waitFor();
      assert.equal(await shownText(page), text);
    },
  },
  {
    title: 'the microphone is released when the view is left before it is open',
    async run({ page, account, open }) {
      const { key, api } = await account();
      await open(key, '/live');
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
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByText('Opening the microphone').waitFor();
      await page.getByRole('link', { name: 'Jobs', exact: true }).click();
      await page.getByText('Opening the microphone').waitFor({ state: 'detached' });

      await page.evaluate(() => (globalThis as unknown as { allow: () => void }).allow());

      const state = () => (globalThis as unknown as { track?: MediaStreamTrack }).track?.readyState;
      await until('the microphone to be released', async () => (await page.evaluate(state)) === 'ended');
      await until('the job to end', async () => (await api.jobs.list({ status: 'completed' })).data[0]);
    },
  },
  {
    title: 'what was said in one account is not shown to the next',
    async run({ page, account, open }) {
      const [one, two] = [await account(), await account()];
      await open(one.key, '/live');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('timer').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('status').getByRole('link', { name: /^job_/ }).waitFor();

      await choose(page, 'Account menu', 'Sign out');
      await signInWithKey(page, two.key);

      await page.getByRole('button', { name: 'Start' }).waitFor();
      assert.equal(await page.getByRole('link', { name: /^job_/ }).count(), 0);
    },
  },
  {
    title: 'a recording that the system suspends goes on',
    async run({ page, account, open }) {
      const { key } = await account();
      await open(key, '/live');
      await page.evaluate(() => {
        globalThis.AudioContext = class extends AudioContext {
          constructor(options?: AudioContextOptions) {
            super(options);
            (globalThis as unknown as { context: AudioContext }).context = this;
          }
        };
      });
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('timer').waitFor();

      await page.evaluate(() => (globalThis as unknown as { context: AudioContext }).context.suspend());

      const state = () => (globalThis as unknown as { context: AudioContext }).context.state;
      await until('the recording to go on', async () => (await page.evaluate(state)) === 'running');
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('status').getByRole('link', { name: /^job_/ }).waitFor();
      // The next flow has a page of its own again.
      await page.reload();
    },
  },
  {
    title: 'a browser that does not resample records at the rate of the device',
    async run({ page, account, open }) {
      const { key } = await account();
      await open(key, '/live');
      await page.evaluate(() => {
        globalThis.AudioContext = class extends AudioContext {
          constructor(options: AudioContextOptions = {}) {
            super({ sampleRate: 44_100, ...options });
          }
          override createMediaStreamSource(stream: MediaStream) {
            if (this.sampleRate !== 44_100) throw new DOMException('different sample-rate', 'NotSupportedError');
            return super.createMediaStreamSource(stream);
          }
        };
      });
      const begun = page.waitForRequest((request) => request.url().endsWith('/v1/live'));

      await page.getByRole('button', { name: 'Start' }).click();

      assert.equal((await begun).postDataJSON().sample_rate, 44_100);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('status').getByRole('link', { name: /^job_/ }).waitFor();
      // The next flow has a page of its own again.
      await page.reload();
    },
  },
  {
    title: 'a session that cannot begin is explained, and the microphone is released',
    async run({ page, account, open }) {
      const { key } = await account({ credits: 0.1 });
      await open(key, '/live');
      await page.evaluate(() => {
        const { mediaDevices } = navigator;
        const ask = mediaDevices.getUserMedia.bind(mediaDevices);
        mediaDevices.getUserMedia = async (wanted) => {
          const stream = await ask(wanted);
          (globalThis as unknown as { track: MediaStreamTrack }).track = stream.getAudioTracks()[0]!;
          return stream;
        };
      });

      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('alert').getByText('insufficient_balance').waitFor();
      const state = await page.evaluate(() => (globalThis as unknown as { track: MediaStreamTrack }).track.readyState);
      assert.equal(state, 'ended');

      await page.evaluate(() => {
        navigator.mediaDevices.getUserMedia = async () => {
          throw new DOMException('Permission denied', 'NotAllowedError');
        };
      });
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByText('The browser blocks the microphone.').waitFor();
    },
  },
];

/** The engines of the plans have these features. */
async function engineFeatures(page: Page, features: Record<'lite' | 'pro', string[]>): Promise<void> {
  await page.route('/v1/models', async (route) => {
    const { data, ...list } = (await (await route.fetch()).json()) as { data: { id: 'lite' | 'pro' }[] };
    const models = data.map((model) => ({ ...model, features: features[model.id] }));
    await route.fulfill({ json: { ...list, data: models } });
  });
}
