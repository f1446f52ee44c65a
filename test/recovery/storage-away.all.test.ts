import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { channelsWav, toneWav } from '../fixtures/audio/test-audio.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const SAID = { body: JSON.stringify({ text: 'heard', segments: [] }) };
type Seen = { status: string; text: string | null; error: unknown; waiting_for: string | null };

const PLACES = 2;
const TONE = Int16Array.from({ length: 8_000 }, (_, at) => 9_000 * Math.sin(at / 5));
const SILENCE = new Int16Array(TONE.length);
// Plain WAV is read by the service, two channels are decoded by ffmpeg in the sandbox.
const FILES = [toneWav('abc'), channelsWav([TONE, TONE]), toneWav('de'), channelsWav([TONE, SILENCE]), toneWav('fg')];

/** The audio folder of a service, which can be moved away as a disk that is not mounted. */
function openFolder(dataDir: string) {
  const [folder, away] = [path.join(dataDir, 'audio'), path.join(dataDir, 'audio-away')];
  return {
    moveAway() {
      renameSync(folder, away);
      mkdirSync(folder);
    },
    moveBack() {
      rmdirSync(folder);
      renameSync(away, folder);
    },
  };
}

const NO_LIMITS = { RATE_LIMIT_TRANSCRIBE: 'off', RATE_LIMIT_DEFAULT: 'off' };

test('no job fails while the audio folder is away: those under way end, the others wait', async () => {
  await using engine = await openSpeechServer('hold');
  const dataDir = temporaryFolder();
  await using service = await openService(
    { ENGINE_PRO: `openai:${engine.baseUrl}`, TRANSCRIBE_CONCURRENCY: String(PLACES), ...NO_LIMITS },
    dataDir,
  );
  const { key } = await service.account();
  const headers = { 'x-api-key': key };
  const read = async (route: string) => await (await fetch(service.baseUrl + route, { headers })).json();
  const ids: string[] = [];
  for (const file of FILES) {
    const body = new FormData();
    body.append('file', new Blob([Uint8Array.from(file)]), 'a.wav');
    body.append('async', 'true');
    const answer = await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body });
    ids.push(((await answer.json()) as { id: string }).id);
  }
  const jobs = () => Promise.all(ids.map((id) => read(`/v1/jobs/${id}`) as Promise<Seen>));
  const isEnded = ({ status }: Seen) => status === 'completed' || status === 'failed';
  await until('the engine to have the jobs under way', () => engine.requests.length >= PLACES);

  const folder = openFolder(dataDir);
  folder.moveAway();
  engine.answerAll(SAID);
  engine.answerHeld(SAID);
  const meanwhile = await until('the others to wait', async () => {
    const now = await jobs();
    const waiting = now.filter(({ waiting_for }) => waiting_for === 'storage');
    return waiting.length + now.filter(isEnded).length === now.length ? now : null;
  });
  folder.moveBack();
  const ended = await until('the end of all', async () => {
    const now = await jobs();
    return now.every(isEnded) ? now : null;
  });

  assert.equal(meanwhile.filter(({ status }) => status === 'completed').length, PLACES);
  assert.deepEqual(
    ended.map(({ status, text, error }) => [status, text, error]),
    FILES.map(() => ['completed', 'heard', null]),
  );
  const { data } = (await read('/v1/events?type=transcription.failed')) as { data: unknown[] };
  assert.deepEqual(data, []);
});
