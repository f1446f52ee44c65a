import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { readWav, type SampleRate } from './wav.ts';

/** Where audio comes from: signed 16-bit samples of one channel. */
export type LiveSource = {
  /** Shown to the user. */
  label: string;
  sampleRate: SampleRate;
  /** Whether it can wait for the service: a microphone goes on, and what is not read from it is lost. */
  canWait: boolean;
  /** The audio, as fast as it plays, until its end or the signal. @throws CommandError */
  pieces(signal: AbortSignal): AsyncIterable<Uint8Array>;
};

const RATE = 16_000;
const PIECE_MS = 100;
const STDERR_MAX_CHARS = 2_000;
const PCM = ['-f', 's16le', '-ac', '1', '-ar', String(RATE), '-'];

/**
 * The microphone, or a file.
 * @throws CommandError
 */
export async function openSource(
  env: NodeJS.ProcessEnv,
  { file, device }: { file?: string; device?: string },
): Promise<LiveSource> {
  if (file === undefined) return openMicrophone(env, device);
  if (device !== undefined) throw new UsageError('Give either --file or --device.');
  if (!fs.existsSync(file)) throw new CommandError(`There is no file ${file}`, EXIT.notFound);
  const wav = await readWav(file);
  if (wav !== null)
    return { label: file, sampleRate: wav.sampleRate, canWait: true, pieces: (signal) => paced(wav, signal) };
  const ffmpeg = findProgram(env, 'ffmpeg');
  if (ffmpeg === null)
    throw new CommandError(`${file} is not a WAV file of 16-bit samples: install ffmpeg to decode it.`);
  const args = ['-nostdin', '-v', 'error', '-i', file, '-vn', ...PCM];
  const decoded = {
    sampleRate: RATE,
    audio: (signal: AbortSignal) => outputOf(ffmpeg, args, { env, signal }),
  } as const;
  return { label: file, sampleRate: RATE, canWait: true, pieces: (signal) => paced(decoded, signal) };
}

function openMicrophone(env: NodeJS.ProcessEnv, device: string | undefined): LiveSource {
  const { name, file, args } = findRecorder(env, device);
  const label = `Microphone${device === undefined ? '' : ` ${device}`} (${name})`;
  return { label, sampleRate: RATE, canWait: false, pieces: (signal) => outputOf(file, args, { env, signal }) };
}

/** Programs that record, by platform; the first that is found is taken. */
function recorders(platform: NodeJS.Platform, device: string | undefined): [name: string, args: string[]][] {
  const ffmpeg = (format: string, input: string): [string, string[]] => [
    'ffmpeg',
    ['-nostdin', '-v', 'error', '-f', format, '-i', input, ...PCM],
  ];
  if (platform === 'darwin') return [ffmpeg('avfoundation', `:${device ?? 'default'}`)];
  if (platform === 'win32') return device === undefined ? [] : [ffmpeg('dshow', `audio=${device}`)];
  const arecord = ['-q', '-t', 'raw', '-f', 'S16_LE', '-c', '1', '-r', String(RATE)];
  return [
    ['arecord', [...arecord, ...(device === undefined ? [] : ['-D', device])]],
    ffmpeg('alsa', device ?? 'default'),
  ];
}

function findRecorder(env: NodeJS.ProcessEnv, device: string | undefined) {
  const { platform } = process;
  if (platform === 'win32' && device === undefined) {
    throw new UsageError('Give --device: ffmpeg -list_devices true -f dshow -i dummy names them.');
  }
  for (const [name, args] of recorders(platform, device)) {
    const file = findProgram(env, name);
    if (file !== null) return { name, file, args };
  }
  const programs = platform === 'linux' ? 'arecord (in the package alsa-utils) or ffmpeg' : 'ffmpeg';
  throw new CommandError(`No program to record the microphone: install ${programs}, or give --file.`);
}

function findProgram({ PATH, Path }: NodeJS.ProcessEnv, name: string): string | null {
  const names = process.platform === 'win32' ? [`${name}.exe`] : [name];
  for (const folder of (PATH ?? Path ?? '').split(path.delimiter)) {
    for (const one of names) {
      const file = path.join(folder, one);
      if (folder !== '' && isExecutable(file)) return file;
    }
  }
  return null;
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** What a program writes. @throws CommandError  when it fails */
async function* outputOf(
  file: string,
  args: string[],
  { env, signal }: { env: NodeJS.ProcessEnv; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const stop = () => child.kill('SIGINT');
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-STDERR_MAX_CHARS);
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) return;
    yield* child.stdout;
    const [code] = await exited;
    if (code === 0 || signal.aborted) return;
    const reason = said.trim().split('\n').at(-1) || `it ended with ${code}.`;
    throw new CommandError(`${path.basename(file)} failed: ${reason}`);
  } finally {
    signal.removeEventListener('abort', stop);
    child.kill();
  }
}

/** Audio in pieces of 100 ms, each when it would be heard. */
async function* paced(
  { sampleRate, audio }: { sampleRate: number; audio(signal: AbortSignal): AsyncIterable<Uint8Array> },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const pieceBytes = ((sampleRate * PIECE_MS) / 1_000) * 2;
  const startedAtMs = performance.now();
  let [rest, count] = [Buffer.alloc(0), 0];
  for await (const chunk of audio(signal)) {
    rest = Buffer.concat([rest, chunk]);
    for (; rest.length >= pieceBytes; rest = rest.subarray(pieceBytes)) {
      count += 1;
      await delay(Math.max(0, startedAtMs + count * PIECE_MS - performance.now()), undefined, { signal });
      yield rest.subarray(0, pieceBytes);
    }
  }
  if (rest.length > 0) yield rest;
}
