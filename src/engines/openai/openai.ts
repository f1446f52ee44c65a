import { once } from 'node:events';
import net from 'node:net';
import type { Dispatcher } from 'undici';
import { Agent, request } from 'undici';
import { openSemaphore } from '../../platform/semaphore.ts';
import { remoteLanguage } from '../../rules/jobs/language.ts';
import type { Visit } from '../circuit-breaker.ts';
import { openCircuit } from '../circuit-breaker.ts';
import type { Engine, Pcm, TranscribeOptions, Transcript } from '../engine.ts';
import { EngineError, SAMPLE_RATE } from '../engine.ts';
import { flacFile } from '../flac-file.ts';
import { tookTooLong } from '../process/call-queue.ts';
import { holdsNoSpeech, hum } from '../silence.ts';
import { wavFile } from '../wav-file.ts';
import type { MultipartForm } from './multipart-form.ts';
import { multipartForm } from './multipart-form.ts';
import { readOpenaiAnswer } from './openai-answer.ts';

export type OpenaiSettings = { baseUrl: string; model: string | null; apiKey: string | null; slots: number };

// Servers that know one model take any name, but many refuse a request without one.
const NAME_WITHOUT_MODEL = 'whisper-1';
const TRIES_MAX = 3;
// 18 s of pauses in all: a server that says it is busy may be loading its model.
const TRIES_WHILE_BUSY_MAX = 8;
const RETRY_PAUSE_MS = { first: 250, most: 5000 };
// Five dead calls are no accident. A server that is back is noticed within seconds.
const CIRCUIT = { failuresMax: 5, restMs: 5000 };
const ANSWER_MAX_BYTES = 16 * 2 ** 20;
const REACH_TIMEOUT_MS = 5_000;
// A second of sound, asked for only while the server counts as dead.
const TRIAL_TIMEOUT_MS = 10_000;
const REAL_TIME = { nowMs: () => performance.now(), trialTimeoutMs: TRIAL_TIMEOUT_MS };

/** A server that speaks the OpenAI speech-to-text API. Its address is the operator's choice and is not guarded. */
export function openOpenai({ baseUrl, model, apiKey, slots }: OpenaiSettings, time = REAL_TIME): Engine {
  const semaphore = openSemaphore(slots);
  const circuit = openCircuit({ ...CIRCUIT, nowMs: time.nowMs });
  const closing = new AbortController();
  let isFlacRefused = false;
  // The deadline of the call bounds every wait.
  const connections = new Agent({ connections: slots, headersTimeout: 0, bodyTimeout: 0 });

  async function transcribe(piece: Pcm, options: TranscribeOptions): Promise<Transcript> {
    const ending = new AbortController();
    const end = () => ending.abort(options.signal.aborted ? options.signal.reason : closed());
    const timer = setTimeout(() => ending.abort(tookTooLong(options.timeoutMs)), options.timeoutMs);
    const ends = [options.signal, closing.signal];
    for (const signal of ends) signal.addEventListener('abort', end);
    try {
      if (closing.signal.aborted) throw closed();
      return await semaphore(() => visitServer(piece, options.language, ending.signal), ending.signal);
    } finally {
      clearTimeout(timer);
      for (const signal of ends) signal.removeEventListener('abort', end);
    }
  }

  async function visitServer(piece: Pcm, language: string | null, signal: AbortSignal): Promise<Transcript> {
    using visit = circuit.enter();
    try {
      return await askWithRetries(piece, language, visit, signal);
    } catch (error) {
      // Neither a caller that left nor our own end is the server's fault.
      if (error instanceof EngineError && !closing.signal.aborted) visit.unanswered();
      throw error;
    }
  }

  async function askWithRetries(
    piece: Pcm,
    language: string | null,
    visit: Visit,
    signal: AbortSignal,
  ): Promise<Transcript> {
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(piece, language, visit, signal);
      if (answer.kind === 'transcript') return answer.transcript;
      if (answer.kind === 'wrong format' && !isFlacRefused) {
        isFlacRefused = true;
      } else if (answer.kind === 'again' && tries < (answer.isBusy ? TRIES_WHILE_BUSY_MAX : TRIES_MAX)) {
        await pause(answer.retryAfterMs ?? retryPauseMs(tries), signal);
      } else {
        throw new EngineError('engine_error', 'The speech server failed on this audio.', { cause: answer.cause });
      }
    }
  }

  async function ask(piece: Pcm, language: string | null, visit: Visit, signal: AbortSignal): Promise<Answer> {
    try {
      const form = requestForm(isFlacRefused ? WAV : FLAC, piece, model ?? NAME_WITHOUT_MODEL, language);
      // A redirect is not followed: its target is not the operator's choice, and would be handed the key.
      const response = await request(`${baseUrl}/audio/transcriptions`, {
        method: 'POST',
        headers: { 'content-type': form.contentType, ...authorization(apiKey) },
        body: form.body,
        dispatcher: connections,
        signal,
      });
      visit.answered();
      return await readResponse(response, piece.length / SAMPLE_RATE);
    } catch (cause) {
      signal.throwIfAborted();
      return { kind: 'again', isBusy: false, retryAfterMs: null, cause };
    }
  }

  /** A server that takes connections and answers nothing is still dead: only an answer ends that. */
  async function tryAgain(): Promise<void> {
    try {
      await transcribe(hum(), { language: null, timeoutMs: time.trialTimeoutMs, signal: new AbortController().signal });
    } catch (cause) {
      if (circuit.isOpen()) throw unreachable(baseUrl, { cause });
    }
  }

  return {
    name: model ?? 'openai',
    slots,
    warmUp: () => (circuit.isOpen() ? tryAgain() : reach(new URL(baseUrl))),
    trouble: () => (circuit.isOpen() ? unreachable(baseUrl) : null),
    async transcribe(piece, options) {
      options.signal.throwIfAborted();
      if (holdsNoSpeech(piece)) return { segments: [], language: options.language };
      return transcribe(piece, options);
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await connections.destroy();
    },
  };
}

/**
 * Resolves once the server takes a connection. It is asked for no transcript: a remote server may bill each one, and one
 * that answers errors for a while must not keep the service from starting. Jobs tell what its answers are worth.
 */
async function reach(server: URL): Promise<void> {
  const port = Number(server.port) || (server.protocol === 'https:' ? 443 : 80);
  const socket = net.connect({ host: server.hostname.replace(/^\[|\]$/g, ''), port });
  socket.setTimeout(REACH_TIMEOUT_MS, () => socket.destroy(new Error('no connection in time')));
  try {
    await once(socket, 'connect');
  } catch (cause) {
    throw unreachable(server.href, { cause });
  } finally {
    socket.destroy();
  }
}

function unreachable(baseUrl: string, options?: ErrorOptions): EngineError {
  const message = 'The speech server does not answer. See that it runs, and that the base URL of the engine is right.';
  return new EngineError('engine_error', message, {
    cause: new Error(`no answer from ${new URL(baseUrl).origin}`, options),
  });
}

function closed(): EngineError {
  return new EngineError('engine_error', 'The speech engine is closed.');
}

type Answer =
  | { kind: 'transcript'; transcript: Transcript }
  | { kind: 'refused' | 'wrong format'; cause: unknown }
  /** A failure that may pass; one that the server itself calls passing is `isBusy`. */
  | { kind: 'again'; isBusy: boolean; retryAfterMs: number | null; cause: unknown };

type FileFormat = { filename: string; contentType: string; write(piece: Pcm): Uint8Array };

// Every speech server that we know of takes FLAC, some take nothing else but wav. It is exact, at about half the bytes.
const FLAC: FileFormat = { filename: 'audio.flac', contentType: 'audio/flac', write: flacFile };
const WAV: FileFormat = { filename: 'audio.wav', contentType: 'audio/wav', write: wavFile };

function requestForm(format: FileFormat, piece: Pcm, model: string, language: string | null): MultipartForm {
  const fields: [string, string][] = [
    ['model', model],
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
  ];
  if (language !== null) fields.push(['language', remoteLanguage(language)]);
  return multipartForm(fields, {
    name: 'file',
    filename: format.filename,
    contentType: format.contentType,
    bytes: format.write(piece),
  });
}

function authorization(apiKey: string | null): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}

async function readResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  pieceSeconds: number,
): Promise<Answer> {
  const text = await readBounded(body);
  const cause = new Error(`The server answered ${statusCode}: ${text?.slice(0, 300)}`);
  if (statusCode === 429 || statusCode >= 500) {
    const isBusy = statusCode === 429 || statusCode === 503;
    return { kind: 'again', isBusy, retryAfterMs: retryAfterMs(headers['retry-after']), cause };
  }
  if (statusCode === 415) return { kind: 'wrong format', cause };
  const transcript = statusCode === 200 && text !== null ? readOpenaiAnswer(text, pieceSeconds) : null;
  return transcript === null ? { kind: 'refused', cause } : { kind: 'transcript', transcript };
}

/** The text of an answer, or null when it is longer than any transcript of 30 s. */
async function readBounded(body: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Seconds, or a date. */
function retryAfterMs(header: string | string[] | undefined): number | null {
  const text = String(header ?? '');
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function retryPauseMs(tries: number): number {
  return Math.min(RETRY_PAUSE_MS.most, RETRY_PAUSE_MS.first * 2 ** (tries - 1));
}

/** @throws the signal's reason, when it aborts first */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const end = () => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
