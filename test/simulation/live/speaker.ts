import type { Account } from '../../../src/accounts/account.ts';
import { isDatabaseAway, type Sql } from '../../../src/db/database.ts';
import { ApiError } from '../../../src/http/api-error.ts';
import { CLOSE } from '../../../src/http/websocket/open-socket.ts';
import type { LiveSegment } from '../../../src/jobs/live/live-segment.ts';
import { LiveConnection } from '../../../src/live/live-connection.ts';
import { segmentMessage } from '../../../src/live/messages.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Environment } from '../environment.ts';
import type { Node } from '../nodes.ts';
import type { Actor } from '../simulator.ts';
import { type Message, Wire } from './wire.ts';

/** A live session as its client knows it. */
export type Spoken = {
  id: string;
  account: Account;
  audio: Buffer;
  /** Bytes that the client could not send again after a cut, of which the service may know nothing. */
  lost: { from: number; to: number }[];
};

/** How often connections are cut, of those that carry audio: per piece. */
export type Cuts = { rate: number };

const PIECE_BYTES = 24_000;
const PIECE_MS = 500;
const SILENCE_MS = 8_000;
// Some clients connect again at once: what they have sent may not be written yet.
const AGAIN_MS = [30, 2_500];
// Codes after which a client does not connect again.
const FINAL_CODES: number[] = [CLOSE.done, CLOSE.ended, CLOSE.outOfBalance, CLOSE.idle, CLOSE.tooLong];

/**
 * The client of a live session: it sends its audio, connects again after each cut, to any node, and goes on at the
 * offset that it is told. Every promise that it is given is compared with the database at that moment.
 */
export class Speaker {
  readonly #environment: Environment;
  readonly #actor: Actor;
  readonly #clock: Clock;
  readonly #admin: Sql;
  readonly #spoken: Spoken;
  readonly #nodes: () => Node[];
  readonly #cuts: Cuts;
  readonly #segments: string[] = [];
  #acknowledged = 0;
  #position = 0;
  /** The client has not got what lies before, but for what was acknowledged. */
  #keptFrom = 0;
  #isOver = false;

  constructor(
    environment: Environment,
    { actor, clock, admin }: { actor: Actor; clock: Clock; admin: Sql },
    { spoken, nodes, cuts }: { spoken: Spoken; nodes: () => Node[]; cuts: Cuts },
  ) {
    this.#environment = environment;
    this.#actor = actor;
    this.#clock = clock;
    this.#admin = admin;
    this.#spoken = spoken;
    this.#nodes = nodes;
    this.#cuts = cuts;
  }

  async speak(): Promise<void> {
    const { random } = this.#environment.simulator;
    // Some clients come back no more: their sessions are ended without them.
    const comesBack = random.next() < 0.7;
    const hurries = random.next() < 0.5;
    while (!this.#isOver) {
      const wasConnected = await this.#connection(hurries);
      if (wasConnected && !comesBack) return;
      await this.#clock.sleep(random.pick(AGAIN_MS) * random.next());
    }
  }

  /** One connection, until it has ended. Whether it was one. */
  async #connection(hurries: boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { simulator } = this.#environment;
    const node = simulator.random.pick(this.#nodes());
    let [isOpen, heardAtMs] = [false, simulator.nowMs()];
    const wire = new Wire(
      this.#environment,
      { client: this.#actor, server: node.actor },
      {
        sent: (message) => this.#checkPromise(message),
        received: (message) => {
          heardAtMs = simulator.nowMs();
          if (message.type === 'hello') {
            isOpen = true;
            this.#greeted(message.offset);
            void this.#send(wire, hurries);
          } else this.#receive(message);
        },
        closed: (code) => {
          if (code === CLOSE.replaced) this.#violated('the only connection was closed for another one');
          this.#isOver ||= FINAL_CODES.includes(code);
          this.#forgetSome();
          resolve(isOpen);
        },
      },
    );
    simulator.after(node.actor, simulator.random.next() * this.#environment.server.wayMs, () =>
      this.#accept(wire, node),
    );
    const watch = () => {
      if (wire.isOver && !isOpen) return wire.leave();
      if (simulator.nowMs() - heardAtMs > SILENCE_MS) wire.leave();
      else simulator.after(this.#actor, 1_000, watch);
    };
    simulator.after(this.#actor, 1_000, watch);
    const connected = await promise;
    heardAtMs = Number.POSITIVE_INFINITY;
    return connected;
  }

  /** What the process does with the request for a connection. */
  #accept(wire: Wire, { live }: Node): void {
    const { id, account } = this.#spoken;
    const { api } = live!;
    const key = { shard: account.shard, accountId: account.id, id };
    const after = this.#segments.length;
    void api.host.take(key, { plan: 'lite', unlimited: false }).then(
      (taken) => {
        if (taken === null) wire.refuse(CLOSE.ended);
        else if (wire.isOver) void api.host.abandon(taken);
        else wire.open((socket) => new LiveConnection(api, socket, { taken, after }));
      },
      (cause: unknown) => {
        if (!(cause instanceof ApiError) && !isDatabaseAway(cause)) this.#violated(`a connection failed: ${cause}`);
        wire.refuse(CLOSE.overloaded);
      },
    );
  }

  #greeted(offset: number): void {
    if (offset < this.#acknowledged) this.#violated(`hello says ${offset}, after an ack of ${this.#acknowledged}`);
    this.#acknowledged = offset;
    this.#position = offset;
  }

  #receive(message: Message): void {
    if (message.type === 'ack') {
      if (message.offset < this.#acknowledged)
        this.#violated(`an ack of ${message.offset} after ${this.#acknowledged}`);
      this.#acknowledged = message.offset;
    } else if (message.type === 'segment') {
      const { seq, ...rest } = message;
      const text = JSON.stringify(rest);
      const known = this.#segments[seq - 1];
      if (known !== undefined && known !== text) this.#violated(`segment ${seq} came again with another text`);
      if (seq > this.#segments.length + 1) this.#violated(`segment ${seq} came after ${this.#segments.length}`);
      this.#segments[seq - 1] = text;
    }
  }

  async #send(wire: Wire, hurries: boolean): Promise<void> {
    const { random } = this.#environment.simulator;
    const { audio } = this.#spoken;
    if (this.#position < this.#keptFrom) {
      this.#spoken.lost.push({ from: this.#position, to: this.#keptFrom });
      wire.sendMessage({ type: 'gap', to: this.#keptFrom });
      this.#position = this.#keptFrom;
    }
    while (this.#position < audio.length) {
      await this.#clock.sleep(PIECE_MS * random.next() * (hurries ? 0.4 : 1));
      if (wire.isOver) return;
      const piece = audio.subarray(this.#position, this.#position + 1 + random.integer(PIECE_BYTES));
      wire.sendAudio(piece);
      this.#position += piece.length;
      if (random.next() < this.#cuts.rate) return wire.cut(random.pick(['noticed', 'silent', 'moved']));
    }
    // Others leave the end of their session to idle_seconds.
    if (random.next() < 0.85) wire.sendMessage({ type: 'finish' });
  }

  /** Some clients keep nothing of what they have sent. */
  #forgetSome(): void {
    if (this.#environment.simulator.random.next() < 0.2) this.#keptFrom = this.#position;
  }

  /** The service says that bytes or a segment are durable: they must be, unless the job has ended meanwhile. */
  #checkPromise(message: Message): void {
    const { id } = this.#spoken;
    if (message.type === 'ack' || message.type === 'hello') {
      const read = this.#admin.rows<{ durable: number }>({
        text: 'select durable_bytes as durable from live_sessions where job_id = $1',
        values: [id],
      });
      this.#environment.simulator.work(read, (outcome) => {
        const durable = outcome.kind === 'result' ? outcome.result[0]?.durable : undefined;
        if (durable !== undefined && message.offset > durable)
          this.#violated(`${message.type} says ${message.offset}, and ${durable} bytes are durable`);
      });
    } else if (message.type === 'segment') {
      const read = this.#admin.rows<{ message: string | null }>({
        text: `select (select message from job_pieces where job_id = $1 and lease = 0 and number = $2) as message
          from live_sessions where job_id = $1`,
        values: [id, message.seq - 1],
      });
      const sent = JSON.stringify(message);
      this.#environment.simulator.work(read, (outcome) => {
        if (outcome.kind !== 'result' || outcome.result.length === 0) return;
        const stored = outcome.result[0]!.message;
        const expected = stored && JSON.stringify(segmentMessage(JSON.parse(stored) as LiveSegment, false));
        if (expected !== sent) this.#violated(`segment ${message.seq} was sent and is not durable`);
      });
    }
  }

  #violated(text: string): void {
    this.#environment.liveViolations.push(`${this.#spoken.id}: ${text}`);
  }
}
