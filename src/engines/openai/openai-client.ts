import { setTimeout as delay } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { type EngineFailure, faultOf } from '../../rules/fault.ts';
import { remoteLanguage } from '../../rules/jobs/language.ts';
import { reasonOfConnection } from '../../rules/network/connection-failure.ts';
import { EngineError, type Pcm, SAMPLE_RATE, type TranscribeOptions, type Transcript } from '../engine.ts';
import { wavHeader } from '../wav-header.ts';
import { type MultipartForm, multipartForm } from './multipart-form.ts';
import { readOpenaiAnswer } from './openai-answer.ts';
import { modelNames } from './server-models.ts';

export type OpenaiSettings = { baseUrl: string; model: string | null; apiKey: string | null; slots: number };

// Servers with a single model accept any name, but many refuse a request without one.
const DEFAULT_MODEL = 'whisper-1';
const ATTEMPTS_MAX = 3;
// 18 s of pauses in all: a server that answers 429 or 503 may be loading its model.
const ATTEMPTS_WHILE_BUSY_MAX = 8;
const RETRY_PAUSE_MS = { first: 250, most: 5000 };
const TIMER_MAX_MS = 2 ** 31 - 1;
const MODELS_TIMEOUT_MS = 5_000;
const RESPONSE_MAX_BYTES = 16 * 2 ** 20;

/** The message of an engine whose server cannot be reached, for clients and /readyz: it has no address. */
export function noAnswer(cause: unknown): string {
  const why = reasonOfConnection(cause) ?? 'does not answer';
  return `The speech server ${why}. See that it runs, and that the base URL of the engine is right.`;
}

/** What is asked about a piece. */
export type SpeechRequest = Pick<TranscribeOptions, 'language' | 'translateTo' | 'prompt' | 'keywords' | 'traceparent'>;

/** HTTP requests to `<base url>/audio/transcriptions` and `/audio/translations`, over at most `slots` connections. */
export class OpenaiClient implements AsyncDisposable {
  readonly #settings: OpenaiSettings;
  readonly #connections: Agent;
  readonly #onBusy: () => void;

  /** @param hooks  `onBusy` is called when the server answers that it has too many requests, or no model yet */
  constructor(settings: OpenaiSettings, { onBusy }: { onBusy: () => void }) {
    this.#settings = settings;
    this.#onBusy = onBusy;
    // The caller's signal bounds every wait.
    this.#connections = new Agent({ connections: settings.slots, headersTimeout: 0, bodyTimeout: 0 });
  }

  /**
   * The server's transcript of one piece, after retries where the failure may be temporary.
   * @throws EngineError  when the server refuses the audio or the attempts are used up; the signal's reason
   */
  async transcribe(piece: Pcm, asked: SpeechRequest, signal: AbortSignal): Promise<Transcript> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt(piece, asked, signal);
      if (result.kind === 'transcript') return result.transcript;
      if (result.kind === 'refused' || attempt >= (result.isBusy ? ATTEMPTS_WHILE_BUSY_MAX : ATTEMPTS_MAX)) {
        const { cause, failure } = result;
        throw new EngineError('engine_error', messageOf(failure, cause), { cause, failure });
      }
      if (result.isBusy) this.#onBusy();
      const pauseMs = Math.min(result.retryAfterMs ?? retryPauseMs(attempt), TIMER_MAX_MS);
      await delay(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  async #attempt(piece: Pcm, asked: SpeechRequest, signal: AbortSignal): Promise<Result> {
    try {
      const form = requestForm(piece, this.#settings.model ?? DEFAULT_MODEL, asked);
      const endpoint = asked.translateTo ? 'translations' : 'transcriptions';
      // Redirects are not followed: the operator did not choose their target, and it would receive the key.
      const response = await this.#connections.request({
        ...this.#urlOf(`audio/${endpoint}`),
        method: 'POST',
        headers: {
          'content-type': form.contentType,
          ...this.#authorization(),
          ...(asked.traceparent !== undefined && { traceparent: asked.traceparent }),
        },
        body: form.body,
        signal,
      });
      return await readResponse(response, piece.length / SAMPLE_RATE);
    } catch (cause) {
      signal.throwIfAborted();
      return { kind: 'temporary', isBusy: false, retryAfterMs: null, cause, failure: { kind: 'connection' } };
    }
  }

  /** The names of the server's models; null where it does not list them. */
  async models(): Promise<string[] | null> {
    try {
      const { statusCode, body } = await this.#connections.request({
        ...this.#urlOf('models'),
        method: 'GET',
        headers: this.#authorization(),
        signal: AbortSignal.timeout(MODELS_TIMEOUT_MS),
      });
      const text = await readBounded(body);
      return statusCode === 200 && text !== null ? modelNames(text) : null;
    } catch {
      // A server that cannot be reached is found out by its next request.
      return null;
    }
  }

  #urlOf(endpoint: string): { origin: string; path: string } {
    const { origin, pathname, search } = new URL(`${this.#settings.baseUrl}/${endpoint}`);
    return { origin, path: pathname + search };
  }

  #authorization(): Record<string, string> {
    const { apiKey } = this.#settings;
    return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections.destroy();
  }
}

type Result =
  | { kind: 'transcript'; transcript: Transcript }
  | { kind: 'refused'; cause: unknown; failure: EngineFailure }
  /** A failure that may pass; `isBusy` when the server's status says so. */
  | { kind: 'temporary'; isBusy: boolean; retryAfterMs: number | null; cause: unknown; failure: EngineFailure };

/** For clients and /readyz: no address, and nothing that the server sent. */
function messageOf(failure: EngineFailure, cause: unknown): string {
  if (failure.kind === 'connection') return noAnswer(cause);
  if (failure.kind !== 'status' || faultOf({ failure }) === 'audio') return 'The speech server failed on this audio.';
  const { status } = failure;
  if (status === 401 || status === 403) return `The speech server refuses the key (${status}). See ENGINE_API_KEY.`;
  const what = `The speech server answers with the status ${status}.`;
  if (status === 404 || status === 405)
    return `${what} Correct the base URL of the engine, which mostly ends with /v1, or its #model.`;
  if (status >= 300 && status < 400)
    return `${what} It redirects: name the address to which it does as the base URL of the engine.`;
  return `${what} See its log.`;
}

function requestForm(piece: Pcm, model: string, asked: SpeechRequest): MultipartForm {
  const { language, translateTo, prompt, keywords = [] } = asked;
  const fields: [string, string][] = [
    ['model', model],
    ['response_format', 'verbose_json'],
  ];
  // That API's translations take neither field.
  if (!translateTo) {
    fields.push(['timestamp_granularities[]', 'word'], ['timestamp_granularities[]', 'segment']);
    if (language !== null) fields.push(['language', remoteLanguage(language)]);
  }
  // Whisper reads the end of a long prompt only, so the keywords come last.
  const context = [prompt, keywords.join(', ')].filter((part) => part).join(' ');
  if (context !== '') fields.push(['prompt', context]);
  return multipartForm(fields, {
    name: 'file',
    filename: 'audio.wav',
    contentType: 'audio/wav',
    bytes: [wavHeader(piece), Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)],
  });
}

async function readResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  pieceSeconds: number,
): Promise<Result> {
  const text = await readBounded(body);
  const failure: EngineFailure = statusCode === 200 ? { kind: 'piece' } : { kind: 'status', status: statusCode };
  const cause = new Error(`The server answered ${statusCode}: ${text?.slice(0, 300)}`);
  if (statusCode === 429 || statusCode >= 500) {
    const isBusy = statusCode === 429 || statusCode === 503;
    return { kind: 'temporary', isBusy, retryAfterMs: retryAfterMs(headers['retry-after']), cause, failure };
  }
  const transcript = statusCode === 200 && text !== null ? readOpenaiAnswer(text, pieceSeconds) : null;
  return transcript === null ? { kind: 'refused', cause, failure } : { kind: 'transcript', transcript };
}

/** The text of a response; null when it is longer than any transcript of 30 s. */
async function readBounded(body: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > RESPONSE_MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The header holds seconds or a date. */
function retryAfterMs(header: string | string[] | undefined): number | null {
  const text = String(header ?? '');
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function retryPauseMs(attempt: number): number {
  return Math.min(RETRY_PAUSE_MS.most, RETRY_PAUSE_MS.first * 2 ** (attempt - 1));
}
