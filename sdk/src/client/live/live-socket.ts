import type { Clock } from '../http/clock.ts';
import { watchIdle } from '../http/idle.ts';

/** The part of a WebSocket that is used. */
export type SocketLike = {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
};

/** A class like the browsers' WebSocket. */
export type SocketClass = new (url: string, protocols: string[]) => SocketLike;

/** How a connection ended. @property code  1006 where no close frame came */
export type Closed = { code: number; reason: string };

export type SocketOptions = {
  webSocket: SocketClass;
  url: string;
  protocols: string[];
  clock: Clock;
  /** False for what is no message of the service: the connection counts as cut. */
  onMessage(text: string): boolean;
};

const FIRST_MESSAGE_MS = 10_000;
const NO_CLOSE_FRAME = { code: 1006, reason: '' };

/** A connection of a live session, which counts as cut when nothing has come for too long. */
export class LiveSocket {
  readonly #socket: SocketLike;
  readonly closed: Promise<Closed>;
  #end!: (closed: Closed) => void;
  #isOpen = true;

  constructor({ webSocket, url, protocols, clock, onMessage }: SocketOptions) {
    this.#socket = new webSocket(url, protocols);
    const first = new AbortController();
    const watch = watchIdle(clock, () => this.#end(NO_CLOSE_FRAME));
    void clock.sleep(FIRST_MESSAGE_MS, first.signal).then(() => {
      if (!first.signal.aborted) this.#end(NO_CLOSE_FRAME);
    });
    this.closed = new Promise((resolve) => {
      this.#end = (closed) => {
        if (!this.#isOpen) return;
        this.#isOpen = false;
        first.abort();
        watch.stop();
        this.#abandon();
        resolve(closed);
      };
    });
    this.#socket.onmessage = ({ data }: { data: unknown }) => {
      first.abort();
      watch.begin();
      if (typeof data === 'string' && !onMessage(data)) this.#end(NO_CLOSE_FRAME);
    };
    this.#socket.onclose = ({ code, reason }: Closed) => this.#end({ code, reason });
    // `onclose` follows.
    this.#socket.onerror = () => undefined;
  }

  send(data: string | Uint8Array): void {
    if (this.#isOpen) this.#socket.send(data as Uint8Array<ArrayBuffer>);
  }

  /** Closes it without a word about the session. */
  close(): void {
    this.#end({ code: 1000, reason: '' });
  }

  /** A dead connection would take minutes to close. */
  #abandon(): void {
    const socket = this.#socket;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }
}
