import type { OpenSocket, SocketUser } from '../../../src/http/websocket/open-socket.ts';
import type { Environment } from '../environment.ts';
import type { Actor } from '../simulator.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages of many types
export type Message = any;

/** What a client is told of its connection. */
export type WireClient = {
  received(message: Message): void;
  /** The last call. */
  closed(code: number): void;
};

/** How a connection is cut. */
export type Cut = 'noticed' | 'silent' | 'moved';

const NOTICED_MS = 3_000;
// A server closes a connection from which nothing comes after so long.
const SILENCE_MS = 35_000;
const CUT = 1006;

/**
 * A connection of a simulated client with a simulated process: both directions keep their order, and are cut at once.
 */
export class Wire {
  readonly #environment: Environment;
  readonly #client: WireClient;
  readonly #toServer: Direction;
  readonly #toClient: Direction;
  /** Called with all that the server sends, when it sends it. */
  readonly #onSent: (message: Message) => void;
  #user: SocketUser | null = null;
  #isCut = false;
  #hasClosed = { client: false, server: false };
  #closeCode: number | null = null;

  constructor(
    environment: Environment,
    { client, server }: { client: Actor; server: Actor },
    callbacks: WireClient & { sent(message: Message): void },
  ) {
    this.#environment = environment;
    this.#client = callbacks;
    this.#onSent = callbacks.sent;
    this.#toServer = new Direction(environment, server);
    this.#toClient = new Direction(environment, client);
    server.onDeath.push(async () => {
      if (!this.#hasClosed.server) this.cut('noticed');
    });
  }

  /** Whether nothing more comes from the client. */
  get isOver(): boolean {
    return this.#isCut || this.#hasClosed.client;
  }

  /** The server has accepted the connection. */
  open(makeUser: (socket: OpenSocket) => SocketUser): void {
    this.#user = makeUser(this.#socket() as Partial<OpenSocket> as OpenSocket);
  }

  refuse(code: number): void {
    this.#toClient.push(() => this.#closeClient(code));
  }

  sendAudio(bytes: Buffer): void {
    this.#toServer.push(() => this.#closeCode === null && this.#user?.binary(bytes));
  }

  sendMessage(message: Message): void {
    this.#toServer.push(() => this.#closeCode === null && this.#user?.text(JSON.stringify(message)));
  }

  /**
   * What is on its way is lost. `silent`: neither side is told; the server finds out by its heartbeat. `moved`: as
   * `silent`, but the client knows, because it changes its network, and what it has sent still arrives.
   */
  cut(how: Cut): void {
    if (this.#isCut) return;
    this.#isCut = true;
    if (how !== 'moved') this.#toServer.close();
    this.#toClient.close();
    const { simulator } = this.#environment;
    const within = how === 'noticed' ? NOTICED_MS : SILENCE_MS;
    simulator.after(this.#toServer.receiver, simulator.random.next() * within, () => this.#closeServer(CUT));
    if (how === 'noticed')
      simulator.after(this.#toClient.receiver, simulator.random.next() * NOTICED_MS, () => this.#closeClient(CUT));
    if (how === 'moved') this.#closeClient(CUT);
  }

  /** The client gives the connection up. */
  leave(): void {
    this.cut('silent');
    this.#closeClient(CUT);
  }

  #socket() {
    const send = (message: Message) => {
      if (this.#closeCode !== null || this.#hasClosed.server) return;
      this.#onSent(message);
      this.#toClient.push(() => this.#client.received(message));
    };
    const direction = this.#toServer;
    return {
      get isPaused() {
        return direction.isPaused;
      },
      unsentBytes: 0,
      send,
      sendText: (text: string) => send(JSON.parse(text)),
      charge: () => undefined,
      pause: () => direction.pause(),
      resume: () => direction.resume(),
      close: (code: number) => {
        if (this.#closeCode !== null) return;
        this.#closeCode = code;
        direction.resume();
        this.#toClient.push(() => this.#closeClient(code));
        this.#toServer.push(() => this.#closeServer(code));
      },
    };
  }

  #closeClient(code: number): void {
    if (this.#hasClosed.client) return;
    this.#hasClosed.client = true;
    this.#client.closed(code);
  }

  #closeServer(code: number): void {
    if (this.#hasClosed.server) return;
    this.#hasClosed.server = true;
    this.#toServer.close();
    this.#user?.closed(code);
  }
}

/** One direction of a connection: what is pushed arrives in order, after a while, unless the direction is closed. */
class Direction {
  readonly receiver: Actor;
  isPaused = false;
  readonly #environment: Environment;
  readonly #arriving: (() => void)[] = [];
  #arrived = 0;
  #lastAtMs = 0;
  #isClosed = false;

  constructor(environment: Environment, receiver: Actor) {
    this.#environment = environment;
    this.receiver = receiver;
  }

  push(act: () => void): void {
    if (this.#isClosed) return;
    const { simulator, server } = this.#environment;
    const nowMs = simulator.nowMs();
    this.#lastAtMs = Math.max(this.#lastAtMs, nowMs + simulator.random.next() * server.wayMs);
    this.#arriving.push(act);
    simulator.after(this.receiver, this.#lastAtMs - nowMs, () => {
      this.#arrived++;
      this.#deliver();
    });
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.#deliver();
  }

  close(): void {
    this.#isClosed = true;
    this.#arriving.length = 0;
  }

  #deliver(): void {
    while (!this.isPaused && this.#arrived > 0 && this.#arriving.length > 0) {
      this.#arrived--;
      this.#arriving.shift()!();
    }
  }
}
