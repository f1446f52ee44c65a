import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { ROOT } from '../../src/platform/installation.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { SPEECH_MODEL, withSpeechModel } from '../fixtures/speech-model.ts';
import { until } from '../fixtures/until.ts';

const SPEECH = new Uint8Array(readFileSync(path.join(ROOT, 'assets/speech/librivox-0880.wav')));
const WORDS = 'words that were said';
const JOBS = 20;
/** What completes before an engine that has just given words is found to give none. */
const MOST_LOST = 2;

const answering = (text: string) => ({ body: JSON.stringify({ text }) });

/** A service whose voice detector is the real one, and whose engine is the server. */
async function openWithDetector(baseUrl: string): Promise<TestService> {
  const dataDir = temporaryFolder();
  const detector = path.join(path.dirname(SPEECH_MODEL), 'silero-vad');
  cpSync(detector, path.join(dataDir, 'models/silero-vad'), { recursive: true });
  const engine = `openai:${baseUrl}`;
  return await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine, RATE_LIMIT_TRANSCRIBE: 'off' }, dataDir);
}

function clientOf(service: TestService, key: string) {
  const call = async (
    method: string,
    route: string,
    headers: Record<string, string>,
    body?: string | Uint8Array<ArrayBuffer>,
  ) => {
    const answer = await fetch(service.baseUrl + route, { method, headers, ...(body && { body }) });
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    return { status: answer.status, json: (await answer.json()) as any };
  };
  const own = { 'x-api-key': key };
  const admin = { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/json' };
  return {
    async send(): Promise<string> {
      const headers = { ...own, 'content-type': 'audio/wav' };
      const { status, json } = await call('POST', '/v1/transcribe?async=true', headers, SPEECH);
      assert.equal(status, 202, JSON.stringify(json));
      return json.id;
    },
    job: async (id: string) => (await call('GET', `/v1/jobs/${id}`, own)).json,
    retry: (body: unknown) => call('POST', '/admin/v1/jobs/retry', admin, JSON.stringify(body)),
  };
}

async function untranscribedSeconds(service: TestService): Promise<number> {
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
  const found = text.matchAll(/^verbatim_untranscribed_seconds_total\{[^}]*\} (\S+)$/gm);
  return [...found].reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}

test(
  'jobs of speech wait while the speech server answers an empty text, and those it cost are retried',
  withSpeechModel,
  async () => {
    await using server = await openSpeechServer(answering(WORDS));
    await using service = await openWithDetector(server.baseUrl);
    const { key } = await service.account();
    const client = clientOf(service, key);
    const jobs = (ids: string[]) => Promise.all(ids.map(client.job));
    const ended = async (ids: string[]) => {
      const found = await jobs(ids);
      return found.every(({ status }) => status === 'completed') ? found : null;
    };
    const first = await client.send();
    await until('a job with words', () => ended([first]), 60_000);

    server.answerAll(answering(''));
    const ids: string[] = [];
    for (let sent = 0; sent < JOBS; sent += 1) ids.push(await client.send());
    const waiting = await until('the other jobs to wait', async () => {
      const found = await jobs(ids);
      const ofEngine = found.filter(({ status, waiting_for }) => status === 'queued' && waiting_for === 'engine');
      return ofEngine.length >= JOBS - MOST_LOST ? found : null;
    });
    const lost = waiting.filter(({ status }) => status === 'completed');
    const ready = await fetch(`${service.baseUrl}/readyz`);
    const reasons = await ready.text();
    const seconds = await untranscribedSeconds(service);

    server.answerAll(answering(WORDS));
    const waited = ids.filter((id) => lost.every((job) => job.id !== id));
    const done = await until('the jobs that waited', () => ended(waited), 60_000);
    const counted = await client.retry({ warning: 'untranscribed', dry_run: true });
    const retried = await client.retry({ warning: 'untranscribed' });
    const again = await client.retry({ warning: 'untranscribed', completed_since: new Date(0).toISOString() });

    for (const job of lost) {
      assert.deepEqual(
        [job.text, job.cost, job.warnings.map(({ code }: { code: string }) => code)],
        ['', 0, ['untranscribed']],
      );
    }
    assert.equal(seconds > 0, lost.length > 0);
    assert.deepEqual([ready.status, /gives no words for speech/.test(reasons)], [503, true]);
    assert.deepEqual(new Set(done.map((job) => job.text)), new Set([WORDS]));
    assert.deepEqual([counted.status, counted.json.jobs], [200, lost.length]);
    assert.deepEqual([retried.status, retried.json.jobs], [202, lost.length]);
    assert.equal(again.json.jobs, 0);
  },
);
