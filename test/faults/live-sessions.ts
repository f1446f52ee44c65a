import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import type { Random } from '../fixtures/random.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages of many types
type Message = any;

/** What a client saw of one session over all of its connections. */
export type SpokenSession = {
  jobId: string;
  /** The job at its end. */
  job: Message;
  /** The messages of the final segments, in order. */
  segments: Message[];
  connections: number;
  violations: string[];
};

export type SessionOrder = {
  key: string;
  plan: 'lite' | 'pro';
  audio: Uint8Array;
  random: Random;
  /** The client connects again when nothing comes for so long. */
  silenceMs?: number;
  /** Called for every acknowledgement. */
  onAck?: () => void;
};

const WORDS = ['hello', 'world', 'so', 'it is', "don't", 'stop', 'good', 'morning', 'again', 'ab', 'cab'];
const SILENCE = new Uint8Array(32_000);
const BYTES_PER_SECOND = 32_000;
const MAX_PIECE_BYTES = 24_000;
// Times real time.
const PACE = 6;
const HANDSHAKE_MS = 10_000;
const GIVE_UP_MS = 120_000;
const AGAIN_MS = 200;

/** Tone speech of so many phrases with a second of silence after each. */
export function speechOf(phrases: number, random: Random): Uint8Array {
  const parts = Array.from({ length: phrases }, () => {
    const { buffer } = toneSpeech(Array.from({ length: 1 + random.integer(3) }, () => random.pick(WORDS)).join(' '));
    return [new Uint8Array(buffer as ArrayBuffer), SILENCE];
  });
  return Buffer.concat(parts.flat());
}

/**
 * Sends the audio in pieces of random sizes, faster than it plays, and connects again after every cut until the job has
 * ended.
 * @param baseUrl  of the service now
 */
export async function speak(baseUrl: () => string, order: SessionOrder): Promise<SpokenSession> {
  return await new Speaker(baseUrl, order).run();
}

class Speaker {
  readonly #baseUrl: () => string;
  readonly #order: SessionOrder;
  readonly #giveUpAtMs = performance.now() + GIVE_UP_MS;
  readonly #segments = new Map<number, Message>();
  readonly #violations: string[] = [];
  #connections = 0;
  #acknowledged = 0;
  #done: Message = null;

  constructor(baseUrl: () => string, order: SessionOrder) {
    this.#baseUrl = baseUrl;
    this.#order = order;
  }

  async run(): Promise<SpokenSession> {
    const created = await this.#begin();
    let job: Message = null;
    while (job === null) {
      const refused = await this.#connect(created);
      if (this.#done) job = this.#done.job;
      // The job has ended, and its last message was cut off.
      else if (refused === 409) job = await this.#call('GET', `/v1/jobs/${created.id}`);
      else await this.#waitAgain();
    }
    const segments = [...this.#segments.values()];
    if (segments.some(({ seq }, at) => seq !== at + 1)) this.#violations.push('the numbers of segments have a hole');
    if (this.#done && this.#done.seq !== segments.length + 1) this.#violations.push('segments are missing at the end');
    return { jobId: created.id, job, segments, connections: this.#connections, violations: this.#violations };
  }

  async #begin(): Promise<Message> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    // The service may be away for longer than the default of 60 s on a busy machine.
    const body = JSON.stringify({ plan: this.#order.plan, timestamps: 'word', resume_seconds: 600 });
    return await this.#call('POST', '/v1/live', { headers, body });
  }

  /** The answer, once there is one that is none of an outage. */
  async #call(method: string, route: string, { headers = {}, body }: { headers?: object; body?: string } = {}) {
    while (true) {
      const request = { method, headers: { ...headers, 'x-api-key': this.#order.key }, ...(body && { body }) };
      const answer = await fetch(this.#baseUrl() + route, {
        ...request,
        signal: AbortSignal.timeout(HANDSHAKE_MS),
      }).catch(() => null);
      const text = await answer?.text().catch(() => null);
      if (answer?.ok && text) return JSON.parse(text);
      if (answer && answer.status < 500 && ![409, 429].includes(answer.status))
        throw new Error(`${route} answered ${answer.status}: ${text}`);
      await this.#waitAgain();
    }
  }

  async #waitAgain(): Promise<void> {
    if (performance.now() > this.#giveUpAtMs) throw new Error(`a session did not end within ${GIVE_UP_MS} ms`);
    await pause(AGAIN_MS * this.#order.random.next());
  }

  /** One connection, until it is closed. The status of an upgrade that was refused, otherwise null. */
  async #connect({ path, token }: { path: string; token: string }): Promise<number | null> {
    const url = `${this.#baseUrl().replace('http', 'ws')}${path}?after=${this.#segments.size}`;
    const socket = new WebSocket(url, ['verbatim.live.v1', `token.${token}`], { handshakeTimeout: HANDSHAKE_MS });
    let refused: number | null = null;
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, { statusCode }) => {
      refused = statusCode ?? null;
      socket.terminate();
    });
    const sent = { bytes: 0 };
    const { silenceMs = GIVE_UP_MS } = this.#order;
    const silence = setTimeout(() => socket.terminate(), silenceMs);
    socket.on('message', (data) => {
      silence.refresh();
      this.#received(socket, sent, JSON.parse(String(data)));
    });
    await new Promise((resolve) => socket.on('close', resolve));
    clearTimeout(silence);
    return refused;
  }

  #received(socket: WebSocket, sent: { bytes: number }, message: Message): void {
    if (message.type === 'hello') {
      this.#connections += 1;
      if (message.offset < this.#acknowledged)
        this.#violations.push(`acknowledged bytes are lost: ${message.offset} of ${this.#acknowledged}`);
      sent.bytes = message.offset;
      void this.#send(socket, sent);
    } else if (message.type === 'ack') {
      if (message.offset < this.#acknowledged || message.offset > sent.bytes)
        this.#violations.push(`acknowledged ${message.offset} after ${this.#acknowledged}, sent ${sent.bytes}`);
      this.#acknowledged = message.offset;
      this.#order.onAck?.();
    } else if (message.type === 'segment') this.#keep(message);
    else if (message.type === 'done') this.#done = message;
  }

  #keep(segment: Message): void {
    const known = this.#segments.get(segment.seq);
    if (known && JSON.stringify(known) !== JSON.stringify(segment))
      this.#violations.push(`segment ${segment.seq} came with other text: ${known.text}, ${segment.text}`);
    this.#segments.set(segment.seq, segment);
  }

  async #send(socket: WebSocket, sent: { bytes: number }): Promise<void> {
    const { audio, random } = this.#order;
    while (sent.bytes < audio.length && socket.readyState === socket.OPEN) {
      const piece = audio.subarray(sent.bytes, sent.bytes + 1 + random.integer(MAX_PIECE_BYTES));
      sent.bytes += piece.length;
      socket.send(piece);
      await pause((piece.length / BYTES_PER_SECOND / PACE) * 1000);
    }
    if (socket.readyState === socket.OPEN) socket.send('{"type":"finish"}');
  }
}
