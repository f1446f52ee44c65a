// The same speech, live, to the service with Moonshine tiny and to a peer with the same weights: how late words are
// final after the end of a sentence, and how many are wrong.
//   npm run bench live-beside -- [--python <program>] [--models <folder>] [--rounds 1]
// The peer is the streaming transcriber of the Python package moonshine-voice, which needs no hub:
//   python3 -m venv /tmp/peer && /tmp/peer/bin/pip install moonshine-voice==0.0.49
//   npm run bench live-beside -- --python /tmp/peer/bin/python
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { type Pcm, SAMPLE_RATE } from '../../src/engines/engine.ts';
import { joinPcm } from '../../src/engines/join-pcm.ts';
import { localModels } from '../../src/models/sources/origins.ts';
import { wavOf } from '../../test/fixtures/audio/wav.ts';
import { openService, temporaryFolder } from '../../test/fixtures/service.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round } from '../figures.ts';
import { countWordErrors } from '../speech/word-errors.ts';

/** A text that does not change any more, and when it came, in ms since the audio began. */
type Final = { ms: number; text: string };
/** What was said until then. */
type Sentence = { endMs: number; words: number };

const { values } = parseArgs({
  options: {
    python: { type: 'string' },
    models: { type: 'string', default: localModels().cache },
    rounds: { type: 'string', default: '1' },
  },
});
const SPEECH = path.join(import.meta.dirname, '../../assets/speech');
const HEADER_BYTES = 44;
const FRAME = SAMPLE_RATE / 10;
const PAUSE_SECONDS = 1.5;
/** Of the loudest sample: quieter is the room after the last word. */
const SOUND_SHARE = 0.05;
/** A word or two may be left out without the others being late. */
const MISSING_MAX = 2;

const clips = JSON.parse(readFileSync(path.join(SPEECH, 'texts.json'), 'utf8')) as { file: string; text: string }[];
const { audio, said, sentences } = speak();
reportFinals('the service', await throughService());
if (values.python) reportFinals('moonshine-voice', await throughPeer(values.python));
else console.log('  without --python there is no peer: bench/live/live-beside.bench.ts says how to install it');

function reportFinals(name: string, finals: Final[]): void {
  const heard = finals.map(({ text }) => text).join(' ');
  const { errors, words } = countWordErrors(said, heard);
  const lags = sentences.map((sentence) => lagMs(sentence, finals)).toSorted((one, other) => one - other);
  const [middle, most] = [lags[Math.floor(lags.length / 2)]!, lags.at(-1)!];
  console.log(`  ${name}: ${heard}`);
  report(`${name}: final words after a sentence, ms, p50 and most`, `${round(middle)}, ${round(most)}`, 'none');
  report(`${name}: words wrong, left out or added`, `${errors} of ${words}`, 'none');
}

/** From the end of a sentence until as many words are final as were said, but for two; Infinity when they never are. */
function lagMs({ endMs, words }: Sentence, finals: Final[]): number {
  let heard = 0;
  const last = finals.find(({ text }) => {
    heard += countWordErrors(text, '').words;
    return heard >= words - MISSING_MAX;
  });
  return last === undefined ? Number.POSITIVE_INFINITY : last.ms - endMs;
}

/** The recordings of the project one after the other, with pauses. */
function speak(): { audio: Pcm; said: string; sentences: Sentence[] } {
  const rounds = Array.from({ length: Number(values.rounds) }, () => clips).flat();
  const parts: Pcm[] = [];
  const all: Sentence[] = [];
  let [samples, words] = [0, 0];
  for (const { file, text } of rounds) {
    const bytes = readFileSync(path.join(SPEECH, file)).subarray(HEADER_BYTES);
    const clip = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~1)));
    words += countWordErrors(text, '').words;
    all.push({ endMs: ((samples + soundEnd(clip)) / SAMPLE_RATE) * 1000, words });
    parts.push(clip, new Int16Array(PAUSE_SECONDS * SAMPLE_RATE));
    samples += clip.length + PAUSE_SECONDS * SAMPLE_RATE;
  }
  return { audio: joinPcm(parts), said: rounds.map(({ text }) => text).join(' '), sentences: all };
}

function soundEnd(clip: Pcm): number {
  const peak = clip.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return clip.findLastIndex((sample) => Math.abs(sample) > SOUND_SHARE * peak);
}

async function throughService(): Promise<Final[]> {
  await using database = await startServiceDatabase();
  const dataDir = temporaryFolder();
  symlinkSync(path.resolve(values.models), path.join(dataDir, 'models'));
  const engine = 'sherpa-onnx:moonshine-tiny';
  const env = { ...database.env, LOG_LEVEL: 'warn', ENGINE_PRO: engine, ENGINE_LITE: engine, RATE_LIMIT_LIVE: 'off' };
  await using service = await openService(env, dataDir);
  const { key } = await service.account();
  // Loads the engine.
  await runSession(service.baseUrl, key, audio.subarray(0, SAMPLE_RATE));
  return await runSession(service.baseUrl, key, audio);
}

async function runSession(baseUrl: string, key: string, pcm: Pcm): Promise<Final[]> {
  const answer = await fetch(`${baseUrl}/v1/live`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  if (answer.status !== 201) throw new Error(`no session: ${answer.status} ${await answer.text()}`);
  const created = (await answer.json()) as { path: string; token: string };
  const socket = new WebSocket(baseUrl.replace('http', 'ws') + created.path, [
    'verbatim.live.v1',
    `token.${created.token}`,
  ]);
  const closed = once(socket, 'close');
  const hello = Promise.withResolvers<void>();
  const finals: Final[] = [];
  let startMs = 0;
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as { type: string; text: string };
    if (message.type === 'hello') hello.resolve();
    if (message.type === 'segment') finals.push({ ms: performance.now() - startMs, text: message.text });
  });
  await hello.promise;
  startMs = performance.now();
  for (let at = 0; at < pcm.length; at += FRAME) {
    // A frame is there when it was spoken.
    const waitMs = startMs + ((at + FRAME) / SAMPLE_RATE) * 1000 - performance.now();
    if (waitMs > 0) await delay(waitMs);
    socket.send(pcm.slice(at, at + FRAME));
  }
  socket.send('{"type":"finish"}');
  await closed;
  return finals;
}

async function throughPeer(python: string): Promise<Final[]> {
  const file = path.join(temporaryFolder(), 'speech.wav');
  writeFileSync(file, wavOf(audio));
  const script = path.join(import.meta.dirname, 'live-peer.py');
  const peer = spawn(python, [script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const finals: Final[] = [];
  for await (const line of createInterface(peer.stdout)) finals.push(JSON.parse(line) as Final);
  if (peer.exitCode === null) await once(peer, 'exit');
  if (peer.exitCode !== 0) throw new Error(`the peer ended with the code ${peer.exitCode}`);
  return finals;
}
