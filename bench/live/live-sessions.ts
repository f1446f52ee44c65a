import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { SAMPLE_RATE } from '../../src/engines/engine.ts';
import { SECONDS_PER_SIGN, TONE_SECONDS, toneSpeech } from '../../test/fixtures/audio/tone/speech.ts';

export type LiveLoad = {
  sessions: number;
  /** Of audio in each session. */
  seconds: number;
  encoding: 'pcm_s16le' | 'mulaw';
  /** Called for each session that has sent all of its audio. */
  onSent?: () => void;
};

/** Times in ms. */
export type LiveFigures = {
  /** From the end of the last sign in a partial or final text until the first text that has it. */
  partialLagMs: number[];
  /** From the end of the silence that ends a segment until its text. */
  finalLagMs: number[];
  /** From sending a byte until it is acknowledged. */
  ackLagMs: number[];
  /** From the handshake until `hello`. */
  helloMs: number[];
  wrongTexts: number;
  /** That all sessions sent. */
  audioSeconds: number;
};

const FRAME_MS = 100;
const SENTENCE = 'the quick fox';
const PAUSE_SECONDS = 1.2;
// The phases of the sessions differ, as those of people do.
const SPREAD_MS = 5_000;
const MULAW_SILENCE = 0xff;

type Format = { sampleRate: number; bytesPerMs: number };

/** Runs sessions at the pace of speech: the same sentence again and again, with pauses. */
export async function runLiveSessions(
  baseUrl: string,
  key: string,
  load: LiveLoad,
  endpointingMs: number,
): Promise<LiveFigures> {
  const figures: LiveFigures = {
    partialLagMs: [],
    finalLagMs: [],
    ackLagMs: [],
    helloMs: [],
    wrongTexts: 0,
    audioSeconds: 0,
  };
  const sampleRate = load.encoding === 'mulaw' ? 8_000 : SAMPLE_RATE;
  const format = { sampleRate, bytesPerMs: (sampleRate * (load.encoding === 'mulaw' ? 1 : 2)) / 1000 };
  const audio = encode(load, format);
  figures.audioSeconds = (load.sessions * audio.length) / (1000 * format.bytesPerMs);
  await Promise.all(
    Array.from({ length: load.sessions }, async (_, at) => {
      await delay(load.sessions === 1 ? 0 : (at * SPREAD_MS) / load.sessions);
      const created = await begin(baseUrl, key, { ...load, sampleRate, endpointingMs });
      await new Session(created, baseUrl, { audio, format, figures, endpointingMs, onSent: load.onSent }).run();
    }),
  );
  return figures;
}

/** One sentence and its pause, over and over; whole periods. */
function encode({ seconds, encoding }: LiveLoad, { sampleRate }: Format): Buffer {
  const speech = toneSpeech(SENTENCE);
  const period = speech.length + PAUSE_SECONDS * SAMPLE_RATE;
  const count = Math.max(1, Math.floor((seconds * SAMPLE_RATE) / period));
  const samples = new Int16Array(count * period);
  for (let at = 0; at < count; at++) samples.set(speech, at * period);
  if (encoding === 'pcm_s16le') return Buffer.from(samples.buffer);
  const step = SAMPLE_RATE / sampleRate;
  return Buffer.from(Uint8Array.from({ length: samples.length / step }, (_, at) => mulaw(samples[at * step]!)));
}

/** G.711 µ-law of a sample. */
function mulaw(sample: number): number {
  if (sample === 0) return MULAW_SILENCE;
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), 32_635) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

type Created = { path: string; token: string };

async function begin(
  baseUrl: string,
  key: string,
  { encoding, sampleRate, endpointingMs }: LiveLoad & { sampleRate: number; endpointingMs: number },
): Promise<Created> {
  const answer = await fetch(`${baseUrl}/v1/live`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ encoding, sample_rate: sampleRate, endpointing_ms: endpointingMs }),
  });
  if (answer.status !== 201) throw new Error(`no session: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Created;
}

type SessionOptions = {
  audio: Buffer;
  format: Format;
  figures: LiveFigures;
  endpointingMs: number;
  onSent: LiveLoad['onSent'];
};

class Session {
  readonly #socket: WebSocket;
  readonly #options: SessionOptions;
  readonly #openedMs = performance.now();
  /** When the first byte was sent, as if the audio had begun then. */
  #startMs = 0;
  #segment = 0;
  #known = 0;
  #texts: string[] = [];

  constructor({ path, token }: Created, baseUrl: string, options: SessionOptions) {
    this.#options = options;
    this.#socket = new WebSocket(baseUrl.replace('http', 'ws') + path, ['verbatim.live.v1', `token.${token}`]);
  }

  async run(): Promise<void> {
    const { audio, format } = this.#options;
    const hello = new Promise<void>((resolve) => this.#socket.once('message', () => resolve()));
    const closed = once(this.#socket, 'close');
    this.#socket.on('message', (data) => this.#received(JSON.parse(String(data))));
    await once(this.#socket, 'open');
    await hello;
    this.#options.figures.helloMs.push(performance.now() - this.#openedMs);
    const frameBytes = FRAME_MS * format.bytesPerMs;
    this.#startMs = performance.now();
    for (let at = 0; at < audio.length; at += frameBytes) {
      // A frame is there when it was spoken.
      const waitMs = this.#startMs + (at + frameBytes) / format.bytesPerMs - performance.now();
      if (waitMs > 0) await delay(waitMs);
      this.#socket.send(audio.subarray(at, at + frameBytes));
    }
    this.#options.onSent?.();
    this.#socket.send('{"type":"finish"}');
    await closed;
    if (this.#texts.some((text) => text !== SENTENCE)) this.#options.figures.wrongTexts += 1;
  }

  // biome-ignore lint/suspicious/noExplicitAny: messages of many types
  #received(message: any): void {
    const { figures, format, endpointingMs } = this.#options;
    const nowMs = performance.now() - this.#startMs;
    if (message.type === 'ack') figures.ackLagMs.push(nowMs - message.offset / format.bytesPerMs);
    if (message.type === 'partial' && message.index === this.#segment) this.#hear(message.text, nowMs);
    if (message.type !== 'segment') return;
    this.#hear(message.text, nowMs);
    this.#texts.push(message.text);
    if (message.reason === 'endpoint') figures.finalLagMs.push(nowMs - this.#endMs(message.text) - endpointingMs);
    this.#segment = message.index + 1;
    this.#known = 0;
  }

  #hear(text: string, nowMs: number): void {
    if (text.length <= this.#known || !SENTENCE.startsWith(text)) return;
    this.#known = text.length;
    this.#options.figures.partialLagMs.push(nowMs - this.#endMs(text));
  }

  /** When the last sign of a text of the open segment has sounded. */
  #endMs(text: string): number {
    const periodMs = (SENTENCE.length * SECONDS_PER_SIGN + PAUSE_SECONDS) * 1000;
    return this.#segment * periodMs + ((text.length - 1) * SECONDS_PER_SIGN + TONE_SECONDS) * 1000;
  }
}
