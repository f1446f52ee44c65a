import { once } from 'node:events';
import net from 'node:net';
import { type Clock, systemClock } from '../../platform/clock.ts';
import {
  type Engine,
  EngineError,
  type EngineFeature,
  type Pcm,
  SAMPLE_RATE,
  type TranscribeOptions,
  type Transcript,
} from '../engine.ts';
import { probe } from '../presence/probe.ts';
import { holdsNoSpeech } from '../silence.ts';
import { noAnswer, OpenaiClient, type OpenaiSettings, type SpeechRequest } from './openai-client.ts';
import { ServerCalls } from './server-calls.ts';
import { unknownModel } from './server-models.ts';
import { TranslationSupport } from './translation-support.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A server that speaks the OpenAI speech-to-text API. The operator chose its address, so no address rules apply.
 * @param settings  `slots` is the most requests at once
 */
export function openOpenai(settings: OpenaiSettings, clock: Clock = systemClock): Engine {
  const { baseUrl, model, slots } = settings;
  const calls = new ServerCalls(slots, clock);
  const client = new OpenaiClient(settings, { onBusy: () => calls.refused() });
  const translation = new TranslationSupport(clock);
  const closing = new AbortController();
  /** It has answered to a model that it does not list, such as another name of one that it does. */
  let takesUnlisted = false;

  async function transcribe(piece: Pcm, { timeoutMs, signal, ...asked }: TranscribeOptions): Promise<Transcript> {
    const options = {
      timeoutMs,
      signal: AbortSignal.any([signal, closing.signal]),
      seconds: piece.length / SAMPLE_RATE,
    };
    return await calls.run((ending) => callServer(piece, asked, ending), options);
  }

  async function callServer(piece: Pcm, asked: SpeechRequest, signal: AbortSignal): Promise<Transcript> {
    try {
      const transcript = await client.transcribe(piece, asked, signal);
      if (asked.translateTo) return asTranslation(transcript, asked.language);
      translation.transcribed();
      return transcript;
    } catch (error) {
      if (!(error instanceof EngineError) || error.failure.kind !== 'status') throw error;
      const unlisted = takesUnlisted && error.failure.status !== 404 ? null : await namesWithoutModel();
      if (unlisted !== null) throw unknownModel(model!, unlisted, error);
      throw asked.translateTo ? translation.explain(error) : error;
    }
  }

  /** The names of the server's models where the one that is named is not among them, else null. */
  async function namesWithoutModel(): Promise<string[] | null> {
    if (model === null) return null;
    const names = await client.models();
    return names?.includes(model) === false ? names : null;
  }

  /** Speech shows whether a server takes a name that it does not list. @throws EngineError  when it gives no words */
  async function requireModel(): Promise<void> {
    if (takesUnlisted || (await namesWithoutModel()) === null) return;
    await probe(engine, closing.signal);
    takesUnlisted = true;
  }

  const engine: Engine = {
    name: model ?? 'openai',
    slots,
    // Of the API. Only a job that asks for a translation tells whether the server has that.
    get features(): EngineFeature[] {
      return ['words', 'prompt', 'keywords', ...(translation.isMissing() ? [] : (['translate'] as const))];
    },
    async warmUp() {
      await connect(new URL(baseUrl));
      await requireModel();
    },
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
  return engine;
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
  socket.setTimeout(CONNECT_TIMEOUT_MS, () =>
    socket.destroy(new DOMException('no connection in time', 'TimeoutError')),
  );
  try {
    await once(socket, 'connect');
  } catch (cause) {
    const where = new Error(`no answer from ${server.origin}`, { cause });
    throw new EngineError('engine_error', noAnswer(cause), { cause: where, failure: { kind: 'connection' } });
  } finally {
    socket.destroy();
  }
}
