import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Agent, FormData, fetch } from 'undici';

/** A server with one lock answers when it has done what was sent before. */
const PATIENT = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
const PROGRAM = path.join(import.meta.dirname, 'whisper_server.py');

/** A virtual environment with faster-whisper, and the folder and name of a model for it. */
export type Whisper = { python: string; modelFolder: string; modelName: string };

export type WhisperServer = AsyncDisposable & {
  baseUrl: string;
  /** Changes with each start. */
  pid(): number;
  /** Sends SIGKILL, whatever it works on. */
  kill(): Promise<void>;
  /** After `kill`, at the same address. */
  start(): Promise<void>;
};

/** The word of a server's answer, with a blank before it where a word of the text begins. */
export type DirectWord = { word: string; start: number; end: number };
export type DirectAnswer = { text: string; words: DirectWord[] };

/** A real speech server with one lock (`whisper_server.py`). */
export async function openWhisperServer({ python, modelFolder, modelName }: Whisper): Promise<WhisperServer> {
  let port = 0;
  let child: ChildProcess;
  const start = async () => {
    child = spawn(python, [PROGRAM, modelFolder, modelName, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await Promise.race([
      once(createInterface(child.stdout!), 'line'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the Whisper server ended with ${code}`))),
    ]);
    port = Number(line);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    pid: () => child.pid!,
    kill,
    start,
    [Symbol.asyncDispose]: kill,
  };
}

/** What a speech server answers to a client that sends it the whole file. */
export async function callDirectly(
  { baseUrl, modelName }: { baseUrl: string; modelName: string },
  file: string,
): Promise<DirectAnswer> {
  const form = new FormData();
  form.append('model', modelName);
  form.append('response_format', 'verbose_json');
  form.append('timestamp_granularities[]', 'word');
  form.append('timestamp_granularities[]', 'segment');
  form.append('file', new Blob([readFileSync(file)]), path.basename(file));
  const answer = await fetch(`${baseUrl}/audio/transcriptions`, { method: 'POST', body: form, dispatcher: PATIENT });
  if (!answer.ok) throw new Error(`${file}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as DirectAnswer;
}
