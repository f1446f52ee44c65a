import type { Job as JobAnswer } from '../../api.ts';
import {
  AbortedError,
  ConnectionError,
  JobFailedError,
  NotFoundError,
  UnauthenticatedError,
  VerbatimError,
} from '../http/errors.ts';
import type { RequestOptions } from '../http/settings.ts';
import { route, type Transport } from '../http/transport.ts';
import { type CompletedJob, hasEnded, type Job } from '../job.ts';
import { memberText } from '../metadata-text.ts';
import { LiveAudio } from './live-audio.ts';
import type { CreatedSession, LiveUpdate, ServerMessage } from './live-messages.ts';
import { type Closed, LiveSocket, type SocketClass } from './live-socket.ts';
import { LiveUpdates } from './live-updates.ts';

/** `connected`: audio is sent from now on; `lost`: it is kept, and the next connection is made after `retryInMs`. */
export type LiveConnectionState = { state: 'connected' } | { state: 'lost'; retryInMs: number };

export type LiveOptions = RequestOptions & {
  onConnection?: ((state: LiveConnectionState) => void) | undefined;
  /** Audio that is kept while the service is away. Default: 64 MiB, which is half an hour at 16 kHz */
  maxBufferBytes?: number | undefined;
  /** In place of the global WebSocket. */
  webSocket?: SocketClass | undefined;
};

/** Something to say once the audio before it is sent. `sentOn`: the connection on which it was said last. */
type Control = { at: number; message: { type: string; id?: string }; sentOn: number; answered: () => void };

const SUBPROTOCOL = 'verbatim.live.v1';
const BUFFER_BYTES = 64 * 2 ** 20;
// So much is sent ahead of the acknowledgements, which come after a commit: 3 MB/s when those take 300 ms.
const AHEAD_BYTES = 2 ** 20;
// A writer that waits is woken below this.
const SPACE_BYTES = 2 ** 20;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;
// Beyond the time for which the service keeps the session.
const GIVE_UP_MS = 600_000;
const JOB_TIMEOUT_MS = 5_000;
// The other connection may be a handshake that this client gave up, and that came late.
const REPLACED = 4001;
/** Close codes after which the job is asked for: it has ended, or will not be continued. */
const ENDED_CODES = [1000, 4002, 4004, 4005, 4006, 4010];
/** Close codes after which another connection would end the same way. */
const FINAL_CODES: Record<number, string> = {
  1002: 'The service did not understand the connection.',
  1003: 'The service did not understand the audio.',
  1007: 'The service did not understand a message.',
  1009: 'A frame was too large.',
  [REPLACED]: 'Another connection has the session.',
  4007: 'The service did not understand the messages.',
  4009: 'The key that began the session has ended.',
};

/**
 * A live session that outlives its connections: audio is kept until the service has it durably, and after a cut the
 * next connection continues where the service is. Iterate over it for what becomes known, once;
 * segments come once each, in order.
 */
export class LiveSession implements AsyncIterable<LiveUpdate> {
  /** Of the job. */
  readonly id: string;
  /** Resolves to the job, once it has ended in whichever way. */
  readonly ended: Promise<Job>;
  readonly #http: Transport;
  readonly #created: CreatedSession;
  readonly #options: LiveOptions & { bytesPerSecond: number };
  readonly #webSocket: SocketClass;
  readonly #audio: LiveAudio;
  readonly #updates = new LiveUpdates();
  #controls: Control[] = [];
  #writers: (() => void)[] = [];
  #socket: LiveSocket | null = null;
  /** How many connections were made. */
  #connections = 0;
  /** Whether the service has said where it is, on this connection. */
  #isGreeted = false;
  /** The offset up to which was sent on this connection. */
  #sent = 0;
  /** Bytes that were given up, and that the service was told of: they are no part of the job's duration. */
  #gapBytes = 0;
  #lastSeq = 0;
  #finalizes = 0;
  #pauseMs = 0;
  #isOver = false;
  #settle!: { end: (job: Job) => void; fail: (error: unknown) => void };

  /** @param options.bytesPerSecond  of the session's encoding */
  constructor(
    http: Transport,
    created: CreatedSession,
    options: LiveOptions & { webSocket: SocketClass; bytesPerSecond: number },
  ) {
    this.id = created.id;
    this.#http = http;
    this.#created = created;
    this.#options = options;
    this.#webSocket = options.webSocket;
    this.#audio = new LiveAudio(options.maxBufferBytes ?? BUFFER_BYTES);
    this.ended = new Promise((end, fail) => {
      this.#settle = { end, fail };
    });
    const { signal } = options;
    const leave = () => this.#fail(new AbortedError(signal?.reason));
    const forget = () => signal?.removeEventListener('abort', leave);
    signal?.addEventListener('abort', leave);
    // Also the handler of a rejection, for a caller that only iterates.
    this.ended.then(forget, forget);
    if (signal?.aborted) leave();
    void this.#run().catch((error: unknown) => this.#fail(error));
  }

  /** Bytes that the service does not have durably. */
  get unacknowledgedBytes(): number {
    return this.#audio.length;
  }

  /**
   * Adds audio in the session's encoding, in pieces of any size. Resolves when there is space for more: a file should
   * wait for it, a microphone need not. Never rejects; after the end of the session the audio is ignored.
   */
  async write(audio: ArrayBuffer | ArrayBufferView): Promise<void> {
    if (this.#isOver || this.#controls.some(({ message }) => message.type !== 'finalize')) return;
    const bytes = ArrayBuffer.isView(audio)
      ? new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength)
      : new Uint8Array(audio);
    const before = this.#audio.start;
    if (this.#audio.push(bytes)) this.#updates.push({ type: 'audio_lost', from: before, to: this.#audio.start });
    this.#pump();
    while (!this.#isOver && this.#audio.length > SPACE_BYTES)
      await new Promise<void>((wake) => this.#writers.push(wake));
  }

  /** Ends the open segment now. Resolves when its final text has come. */
  async finalize(): Promise<void> {
    this.#finalizes += 1;
    await this.#sendControl({ type: 'finalize', id: String(this.#finalizes) });
  }

  /** No more audio comes: the rest is transcribed, and the job ends. @throws JobFailedError */
  async finish(): Promise<CompletedJob> {
    void this.#sendControl({ type: 'finish' });
    const job = await this.ended;
    if (job.status !== 'completed') throw new JobFailedError(job);
    return job as CompletedJob;
  }

  /** Cancels the job; what was received is charged. Resolves to the job, which may have ended before. */
  async cancel(): Promise<Job> {
    void this.#sendControl({ type: 'cancel' });
    return await this.ended;
  }

  /** Leaves the session. Without another connection the service completes its job after `resume_seconds`. */
  close(): void {
    this.#fail(new AbortedError('The session was left.'));
  }

  [Symbol.asyncIterator](): AsyncIterator<LiveUpdate> {
    return this.#updates[Symbol.asyncIterator]();
  }

  /** Sends it after the audio that was written before. Resolves when it is answered, or the session is over. */
  async #sendControl(message: { type: string; id?: string }): Promise<void> {
    if (this.#isOver) return;
    await new Promise<void>((answered) => {
      this.#controls.push({ at: this.#audio.end, message, sentOn: 0, answered });
      this.#pump();
    });
  }

  /** Connects until the session is over. */
  async #run(): Promise<void> {
    const { clock } = this.#http;
    let lostAtMs = clock.now();
    let hasGivenUp = false;
    for (let failures = 0; !this.#isOver; failures++) {
      const closed = await this.#connect();
      if (this.#isOver) return;
      if (this.#isGreeted) [failures, lostAtMs] = [0, clock.now()];
      const wasGreeted = this.#isGreeted;
      this.#isGreeted = false;
      const mayBeReplacedByItself = hasGivenUp && closed.code === REPLACED;
      hasGivenUp = !wasGreeted;
      const final = FINAL_CODES[closed.code];
      if (final && !mayBeReplacedByItself)
        throw new VerbatimError(`${final} The connection was closed with ${closed.code} ${closed.reason}.`);
      // The answer to a refused connection cannot be seen: whether the job has ended, it tells itself.
      if (!wasGreeted || ENDED_CODES.includes(closed.code)) await this.#endIfJobEnded();
      if (this.#isOver) return;
      if (clock.now() - lostAtMs > this.#created.limits.resume_seconds * 1_000 + GIVE_UP_MS) {
        throw new ConnectionError(`${this.id} could not be continued: the service did not come back.`);
      }
      const backoffMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (1 - Math.random() / 4);
      const retryInMs = Math.max(backoffMs, this.#pauseMs);
      this.#pauseMs = 0;
      this.#options.onConnection?.({ state: 'lost', retryInMs });
      await clock.sleep(retryInMs, this.#options.signal);
    }
  }

  async #connect(): Promise<Closed> {
    const { baseUrl, clock } = this.#http;
    const { path, token } = this.#created;
    this.#connections += 1;
    const socket = new LiveSocket({
      webSocket: this.#webSocket,
      url: `${baseUrl.replace(/^http/, 'ws')}${path}?after=${this.#lastSeq}`,
      protocols: [SUBPROTOCOL, `token.${token}`],
      clock,
      onMessage: (text) => this.#received(text),
    });
    this.#socket = socket;
    const closed = await socket.closed;
    this.#socket = null;
    return closed;
  }

  /** False for what is no message of the service. */
  #received(text: string): boolean {
    const message = parseMessage(text);
    if (message === null) return false;
    this.#take(message, text);
    return true;
  }

  #take(message: ServerMessage, text: string): void {
    switch (message.type) {
      case 'hello':
        this.#sent = message.offset;
        this.#isGreeted = true;
        this.#options.onConnection?.({ state: 'connected' });
        this.#acknowledged(message.offset);
        break;
      case 'ack':
        this.#acknowledged(message.offset);
        break;
      case 'segment':
        if (message.seq <= this.#lastSeq) return;
        this.#lastSeq = message.seq;
        this.#updates.push(message);
        break;
      case 'partial':
      case 'speech_started':
      case 'warning':
        this.#updates.push(message);
        break;
      case 'finalized':
        this.#answered(({ id }) => id === message.id);
        break;
      case 'going_away':
        this.#pauseMs = message.reconnect_after_ms;
        break;
      case 'error':
        this.#updates.push({ type: 'warning', code: 'invalid_message', message: message.error.message });
        break;
      case 'done':
        this.#end(memberText(text, 'job')!);
    }
  }

  #acknowledged(offset: number): void {
    this.#audio.dropTo(offset);
    if (this.#audio.length <= SPACE_BYTES) for (const wake of this.#writers.splice(0)) wake();
    this.#pump();
  }

  /** Sends what may be sent now: audio, and what is to be said between it. */
  #pump(): void {
    while (this.#isGreeted && this.#socket !== null && this.#sendNext(this.#socket));
  }

  #sendNext(socket: LiveSocket): boolean {
    const audio = this.#audio;
    if (this.#sent < audio.start) {
      socket.send(JSON.stringify({ type: 'gap', to: audio.start }));
      this.#gapBytes += audio.start - this.#sent;
      this.#sent = audio.start;
      return true;
    }
    const control = this.#controls.find(({ sentOn }) => sentOn < this.#connections);
    if (control && control.at <= this.#sent) {
      control.sentOn = this.#connections;
      socket.send(JSON.stringify(control.message));
      return true;
    }
    const end = Math.min(control?.at ?? audio.end, audio.start + AHEAD_BYTES);
    const bytes = audio.read(this.#sent, Math.min(end - this.#sent, this.#created.limits.frame_bytes));
    if (end <= this.#sent || bytes.length === 0) return false;
    socket.send(bytes);
    this.#sent += bytes.length;
    return true;
  }

  #answered(isAnswered: (message: Control['message']) => boolean): void {
    for (const control of this.#controls) if (isAnswered(control.message)) control.answered();
    this.#controls = this.#controls.filter(({ message }) => !isAnswered(message));
  }

  /** Ends the session when its job has ended and this client was not told. */
  async #endIfJobEnded(): Promise<void> {
    const call = { maxRetries: 0, timeoutMs: JOB_TIMEOUT_MS, signal: this.#options.signal };
    try {
      const text = await this.#http.text('GET', route`/v1/jobs/${this.id}`, call);
      if (hasEnded(JSON.parse(text) as JobAnswer)) this.#end(text);
    } catch (error) {
      // The key may be one that cannot read jobs, and everything else may pass.
      if (error instanceof NotFoundError || error instanceof UnauthenticatedError) throw error;
    }
  }

  /** @param text  the job as JSON */
  #end(text: string): void {
    if (this.#isOver) return;
    const job: Job = { ...(JSON.parse(text) as JobAnswer), metadataText: memberText(text, 'metadata') };
    for (const [index, segment] of (job.segments ?? []).entries()) {
      const { start, end, text, confidence, words } = segment;
      if (index < this.#lastSeq) continue;
      const known = { seq: index + 1, index, start, end, text, confidence, reason: 'unknown' } as const;
      this.#updates.push({ type: 'segment', ...known, ...(words && { words }) });
    }
    const seconds = job.audio.duration_seconds;
    if (job.status !== 'canceled' && seconds !== null) this.#giveLost(seconds);
    this.#close(null);
    this.#settle.end(job);
  }

  /**
   * Tells of the audio that is no part of the job, which ended while the service was away, or at the end of the
   * balance.
   */
  #giveLost(seconds: number): void {
    const heard = Math.round(seconds * this.#options.bytesPerSecond) + this.#gapBytes;
    const from = Math.max(this.#audio.start, heard);
    // Durations are whole milliseconds.
    const isLost = this.#audio.end - from > this.#options.bytesPerSecond / 1000;
    if (isLost) this.#updates.push({ type: 'audio_lost', from, to: this.#audio.end });
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#close(error);
    this.#settle.fail(error);
  }

  #close(error: unknown): void {
    this.#isOver = true;
    this.#updates.end(error);
    this.#answered(() => true);
    for (const wake of this.#writers.splice(0)) wake();
    this.#socket?.close();
  }
}

/** Null for what is no JSON object. */
function parseMessage(text: string): ServerMessage | null {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' ? (message as ServerMessage | null) : null;
  } catch {
    return null;
  }
}
