import type { WebSocket } from 'ws';

/** What is done with the messages of a socket. */
export type SocketUser = {
  binary(bytes: Buffer): void;
  text(text: string): void;
  /** The connection has ended; the last call. @param code  1006 where the client sent no close frame */
  closed(code: number): void;
};

const PING_EVERY_MS = 15_000;
const SILENCE_MAX_MS = 35_000;
// A client that answers its own pings is not dead: any frame counts.
const CHECK_EVERY_MS = 5_000;
// A client that has so much to read is not read itself: it cannot ask for more. After the time it is closed.
const UNSENT_MAX_BYTES = 2 ** 20;
const UNSENT_MAX_MS = 30_000;
// A client that sends more is read on in the next second. A frame of audio is 20 to 250 ms long. Four clients that sent
// frames of one byte as fast as they could made other requests take 4 s.
const MESSAGES_PER_SECOND = 1_000;
/** Close codes of every WebSocket of the service; below 4000 those of RFC 6455. */
export const CLOSE = {
  done: 1000,
  internal: 1011,
  restart: 1012,
  overloaded: 1013,
  refused: 1008,
  replaced: 4001,
  ended: 4002,
  unread: 4003,
  outOfBalance: 4004,
  idle: 4005,
  tooLong: 4006,
  badMessages: 4007,
  silent: 4008,
  unauthenticated: 4009,
} as const;

/** An open WebSocket with a heartbeat: one whose client neither answers nor reads is closed. */
export class OpenSocket {
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  #receivedAtMs = performance.now();
  #pingedAtMs = performance.now();
  #unsentSinceMs: number | null = null;
  #closeCode: number | null = null;
  /** Whether the user of the socket lets the client wait. */
  #isHeld = false;
  #second = { startMs: performance.now(), messages: 0 };
  #isTooFast = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS);
    this.#timer.unref();
  }

  /** Bytes that were sent and not taken by the system. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Whether the client has to read before more is sent to it. */
  get isUnread(): boolean {
    return this.unsentBytes >= UNSENT_MAX_BYTES;
  }

  /** Called once, in the turn of the upgrade. */
  use(user: SocketUser): void {
    const received = () => this.#noteReceived();
    this.#socket.on('pong', received);
    this.#socket.on('ping', received);
    this.#socket.on('message', (data, isBinary) => {
      received();
      // What the client sends after our close frame is ignored.
      if (this.#closeCode !== null) return;
      if (isBinary) user.binary(data as Buffer);
      else user.text((data as Buffer).toString());
    });
    // A frame that breaks the protocol: `ws` closes with the code of RFC 6455.
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', (code) => {
      clearInterval(this.#timer);
      user.closed(this.#closeCode ?? code);
    });
  }

  send(message: object): void {
    this.sendText(JSON.stringify(message));
  }

  /** Sends a JSON text. */
  sendText(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(text, () => this.#readOn());
    if (this.isUnread) this.#socket.pause();
  }

  /** Sends a close frame after what was sent before; the first call counts. */
  close(code: number, reason = ''): void {
    if (this.#closeCode !== null) return;
    this.#closeCode = code;
    this.#socket.resume();
    this.#socket.close(code, reason);
  }

  /** Stops reading: the client has to wait. */
  pause(): void {
    this.#isHeld = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isHeld = false;
    this.#readOn();
  }

  /** Whether the client has to wait now. */
  get isPaused(): boolean {
    return this.#socket.isPaused;
  }

  #noteReceived(): void {
    const nowMs = performance.now();
    this.#receivedAtMs = nowMs;
    if (nowMs - this.#second.startMs >= 1_000) this.#second = { startMs: nowMs, messages: 0 };
    this.#second.messages += 1;
    if (this.isUnread) this.#socket.pause();
    if (this.#isTooFast || this.#second.messages < MESSAGES_PER_SECOND) return;
    this.#isTooFast = true;
    this.#socket.pause();
    setTimeout(
      () => {
        this.#isTooFast = false;
        this.#readOn();
      },
      this.#second.startMs + 1_000 - nowMs,
    ).unref();
  }

  #readOn(): void {
    const hasToWait = this.#isHeld || this.#isTooFast || this.isUnread;
    if (this.#socket.isPaused && !hasToWait) this.#socket.resume();
  }

  #check(): void {
    const nowMs = performance.now();
    if (!this.isUnread) this.#unsentSinceMs = null;
    else this.#unsentSinceMs ??= nowMs;
    // What a paused client sends is not read, so its silence does not count.
    if (this.#socket.isPaused) this.#receivedAtMs = nowMs;
    const isUnread = this.#unsentSinceMs !== null && nowMs - this.#unsentSinceMs >= UNSENT_MAX_MS;
    if (isUnread) this.#terminate(CLOSE.unread, 'unread');
    else if (nowMs - this.#receivedAtMs >= SILENCE_MAX_MS) this.#terminate(CLOSE.silent, 'no pong');
    else if (nowMs - this.#pingedAtMs >= PING_EVERY_MS) this.#ping(nowMs);
  }

  #ping(nowMs: number): void {
    this.#pingedAtMs = nowMs;
    this.#socket.ping();
  }

  /** The client may never take a close frame. */
  #terminate(code: number, reason: string): void {
    this.close(code, reason);
    this.#socket.terminate();
  }
}
