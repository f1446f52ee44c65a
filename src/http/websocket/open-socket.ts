import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { MessageBudget } from './message-budgets.ts';

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
// What one read has brought is in memory already: 64 KiB, up to 10,000 messages. With more the client is not read.
const INBOX_MAX_MESSAGES = 8;
const INBOX_MAX_BYTES = 256 * 1024;
// A client that has read our close frame answers it after what it has sent before. One that sends more than this is not
// read: `ws` ends its connection after 5 s.
const AFTER_CLOSE_MAX_BYTES = 256 * 1024;
// A client pings every few seconds.
const CONTROL_FRAMES_PER_SECOND = 100;
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
  otherFormat: 4010,
} as const;

/** An open WebSocket with a heartbeat: one whose client neither answers nor reads is closed. */
export class OpenSocket {
  readonly #socket: WebSocket;
  readonly #connection: Socket;
  readonly #budget: MessageBudget;
  /** Null before `use`, and after the last call of it. */
  #user: SocketUser | null = null;
  readonly #timer: NodeJS.Timeout;
  #receivedAtMs = performance.now();
  #pingedAtMs = performance.now();
  #unsentSinceMs: number | null = null;
  #closeCode: number | null = null;
  /** Whether the user of the socket lets the client wait. */
  #isHeld = false;
  /** Messages that wait for the budget, for a turn of the account, or for the user of the socket. */
  #inbox: { data: Buffer; isBinary: boolean }[] = [];
  #isDelivering = false;
  /** The code that the connection has ended with. */
  #endCode: number | null = null;
  #control = { startMs: performance.now(), frames: 0 };

  /**
   * @param connection  that the socket is on
   * @param budget  of the account whose client it is
   */
  constructor(socket: WebSocket, connection: Socket, budget: MessageBudget) {
    this.#socket = socket;
    this.#connection = connection;
    this.#budget = budget;
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
    this.#user = user;
    const noteControl = () => this.#noteControl();
    this.#socket.on('pong', noteControl);
    this.#socket.on('ping', noteControl);
    this.#socket.on('message', (data, isBinary) => {
      this.#receivedAtMs = performance.now();
      // What the client sends after our close frame is ignored.
      if (this.#closeCode !== null) return;
      this.#inbox.push({ data: data as Buffer, isBinary });
      if (this.#isInboxFull || this.isUnread) this.#socket.pause();
      void this.#deliver();
    });
    // A frame that breaks the protocol: `ws` closes with the code of RFC 6455.
    this.#socket.on('error', () => this.#limitRest());
    this.#socket.once('close', (code) => {
      clearInterval(this.#timer);
      this.#endCode = code;
      void this.#deliver();
    });
  }

  /** Counts the current message as this number of further messages, because it costs as much. */
  charge(messages: number): void {
    this.#budget.charge(messages);
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
    this.#limitRest();
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

  get #isInboxFull(): boolean {
    if (this.#inbox.length >= INBOX_MAX_MESSAGES) return true;
    return this.#inbox.reduce((bytes, { data }) => bytes + data.length, 0) >= INBOX_MAX_BYTES;
  }

  /** After our close frame: reads the answer of the client, and not everything that it may send before. */
  #limitRest(): void {
    const before = this.#connection.bytesRead;
    this.#connection.on('data', () => {
      if (this.#connection.bytesRead - before >= AFTER_CLOSE_MAX_BYTES) this.#socket.pause();
    });
  }

  #noteControl(): void {
    const nowMs = performance.now();
    this.#receivedAtMs = nowMs;
    if (nowMs - this.#control.startMs >= 1_000) this.#control = { startMs: nowMs, frames: 0 };
    this.#control.frames += 1;
    if (this.#control.frames > CONTROL_FRAMES_PER_SECOND) this.#terminate(CLOSE.badMessages, 'too many control frames');
  }

  /** Hands the messages over one by one, and the end of the connection after them. */
  async #deliver(): Promise<void> {
    const user = this.#user;
    if (user === null || this.#isDelivering) return;
    this.#isDelivering = true;
    while (this.#inbox.length > 0 && !this.#hasToWait) {
      await this.#turn(this.#inbox[0]!.data.length);
      if (this.#closeCode !== null) this.#inbox = [];
      const message = this.#inbox.shift();
      if (message?.isBinary) user.binary(message.data);
      else if (message) user.text(message.data.toString());
    }
    this.#isDelivering = false;
    if (this.#endCode === null) return this.#readOn();
    this.#user = null;
    user.closed(this.#closeCode ?? this.#endCode);
  }

  /** Of a connection that has ended nothing waits. */
  get #hasToWait(): boolean {
    return this.#endCode === null && (this.#isHeld || this.isUnread);
  }

  async #turn(bytes: number): Promise<void> {
    for (let waitMs = this.#budget.take(bytes); waitMs > 0 && this.#closeCode === null; ) {
      await sleep(waitMs, undefined, { ref: false });
      waitMs = this.#budget.take(bytes);
    }
    await this.#budget.turn();
  }

  #readOn(): void {
    if (this.#hasToWait) return;
    if (this.#inbox.length > 0) void this.#deliver();
    else if (this.#socket.isPaused) this.#socket.resume();
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
