import { once } from 'node:events';
import net from 'node:net';
import { openSemaphore } from '../../platform/semaphore.ts';
import { openCircuitBreaker } from '../circuit-breaker.ts';
import { type Engine, EngineError, type Pcm, type TranscribeOptions, type Transcript } from '../engine.ts';
import { tookTooLong } from '../process/call-queue.ts';
import { holdsNoSpeech, hum } from '../silence.ts';
import { OpenaiClient, type OpenaiSettings, type SpeechRequest } from './openai-client.ts';

// Five calls in a row without a response are not chance, and a server that is back is used again within seconds.
const CIRCUIT = { failuresMax: 5, restMs: 5000 };
const CONNECT_TIMEOUT_MS = 5_000;
// For one second of audio, sent only while the circuit is open.
const TRIAL_TIMEOUT_MS = 10_000;
const REAL_TIME = { nowMs: () => performance.now(), trialTimeoutMs: TRIAL_TIMEOUT_MS };

/** A server that speaks the OpenAI speech-to-text API. The operator chose its address, so no address rules apply. */
export function openOpenai(settings: OpenaiSettings, time = REAL_TIME): Engine {
  const { baseUrl, model, slots } = settings;
  const semaphore = openSemaphore(slots);
  const circuit = openCircuitBreaker({ ...CIRCUIT, nowMs: time.nowMs });
  const client = new OpenaiClient(settings);
  const closing = new AbortController();

  async function transcribe(piece: Pcm, { timeoutMs, signal, ...asked }: TranscribeOptions): Promise<Transcript> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(tookTooLong(timeoutMs)), timeoutMs);
    const ending = AbortSignal.any([signal, closing.signal, deadline.signal]);
    try {
      return await semaphore(() => callServer(piece, asked, ending), ending);
    } finally {
      clearTimeout(timer);
    }
  }

  async function callServer(piece: Pcm, asked: SpeechRequest, signal: AbortSignal): Promise<Transcript> {
    using permit = circuit.acquire();
    try {
      const transcript = await client.transcribe(piece, asked, permit, signal);
      return asked.translateTo ? asTranslation(transcript, asked.language) : transcript;
    } catch (error) {
      // An abort by the caller or by the close of this engine says nothing about the server.
      if (error instanceof EngineError && !closing.signal.aborted) permit.failed();
      throw error;
    }
  }

  /** A connection does not prove that the server works again: only a response closes the circuit. */
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
    // Of the API; no request tells what a server lacks.
    features: ['words', 'prompt', 'keywords', 'translate'],
    warmUp: () => (circuit.isOpen() ? tryAgain() : connect(new URL(baseUrl))),
    trouble: () => (circuit.isOpen() ? unreachable(baseUrl) : null),
    async transcribe(piece, options) {
      options.signal.throwIfAborted();
      if (holdsNoSpeech(piece)) return { segments: [], language: options.language };
      return transcribe(piece, options);
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new EngineError('engine_error', 'The speech engine is closed.', { failure: { kind: 'start' } }));
      await client[Symbol.asyncDispose]();
    },
  };
}

/** A translation names the language of its text, not the spoken one, and times of its words have no meaning. */
function asTranslation({ segments, ...rest }: Transcript, language: string | null): Transcript {
  return { ...rest, language, segments: segments.map((segment) => ({ ...segment, words: [] })) };
}

/**
 * Resolves once the server accepts a connection. No transcript is requested: a remote server may bill it, and one that
 * answers errors for a while must not prevent the start of the service. Those errors show in the jobs.
 */
async function connect(server: URL): Promise<void> {
  const port = Number(server.port) || (server.protocol === 'https:' ? 443 : 80);
  const socket = net.connect({ host: server.hostname.replace(/^\[|\]$/g, ''), port });
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no connection in time')));
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
    failure: { kind: 'connection' },
  });
}
