import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { type Clock, Verbatim } from '#sdk/client/index.ts';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { Forwarder } from '../../cli/listen/delivery/forwarder.ts';
import { makeSecret } from '../../cli/listen/delivery/local-delivery.ts';
import type { Post } from '../../cli/listen/delivery/post.ts';
import { readTargets } from '../../cli/listen/delivery/targets.ts';
import { runListener } from '../../cli/listen/listener.ts';
import { openPositionFile, readState } from '../../cli/listen/state-file.ts';
import { type ManualClock, openManualClock } from '../fixtures/manual-clock.ts';
import { type Random, randomFrom } from '../fixtures/random.ts';
import { SimulatedService } from './simulated-service.ts';

/** @property faults  cuts, sleeps of the machine, restarts of the service and of the program, in all */
export type StormOrder = { events: number; faults: number; seed: number };

export type StormResult = {
  /** Committed, but never received. */
  lost: string[];
  received: number;
  /** Received again, with the same id and body. */
  duplicates: number;
  /** Received with another body, or with a signature that does not verify. */
  wrong: string[];
  connections: number;
  faults: Record<string, number>;
  simulatedMinutes: number;
  /** Of each event with the time of its receipt: the same for the same seed. */
  trace: string;
};

const STARTED_MS = Date.parse('2026-11-21T09:00:00.000Z');
const LIMIT_MS = 24 * 3_600_000;
const SERVICE = 'http://service.test';
const FAULTS = ['cut', 'silence', 'sleep', 'stop', 'kill', 'crash', 'interrupt'] as const;

/**
 * Forwards events while connections are cut and fall silent, the machine sleeps, and service and program are stopped,
 * killed and started again.
 */
export async function forwardThroughStorm(order: StormOrder): Promise<StormResult> {
  const random = randomFrom(order.seed);
  const chance = mock.method(Math, 'random', randomFrom(order.seed + 1).next);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'listen-'));
  try {
    const storm = new Storm(order, random, path.join(folder, 'state.json'));
    return await storm.run();
  } finally {
    chance.mock.restore();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Storm {
  readonly #clock: ManualClock = openManualClock();
  readonly #service: SimulatedService;
  readonly #order: StormOrder;
  readonly #random: Random;
  readonly #file: string;
  readonly #target: Target;
  readonly #faults: Record<string, number> = {};
  #machine!: Machine;

  constructor(order: StormOrder, random: Random, file: string) {
    this.#order = order;
    this.#random = random;
    this.#file = file;
    this.#service = new SimulatedService(this.#clock, random);
    this.#target = new Target(this.#clock, random);
  }

  async run(): Promise<StormResult> {
    await this.#clock.advance(STARTED_MS);
    this.#machine = this.#start();
    const ended = Promise.all([this.#service.emit(this.#order.events), this.#disturb()]);
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    const isComplete = () => isOver && this.#service.committed.size === this.#target.received.size;
    while (!isComplete() && this.#clock.now() < STARTED_MS + LIMIT_MS) await this.#clock.advance(1_000);
    this.#machine.stop();
    const { received, duplicates, wrong, trace } = this.#target;
    return {
      lost: [...this.#service.committed.keys()].filter((id) => !received.has(id)),
      received: received.size,
      duplicates,
      wrong: [...wrong, ...this.#changed()],
      connections: this.#service.connections,
      faults: this.#faults,
      simulatedMinutes: Math.round((this.#clock.now() - STARTED_MS) / 60_000),
      trace: trace.digest('hex'),
    };
  }

  #changed(): string[] {
    return [...this.#target.received]
      .filter(([id, body]) => this.#service.committed.get(id) !== body)
      .map(([id]) => id);
  }

  #start(): Machine {
    return new Machine(this.#clock, { service: this.#service, target: this.#target, file: this.#file });
  }

  /** Each kind of fault in turn, until all have been. */
  async #disturb(): Promise<void> {
    for (let count = 0; count < this.#order.faults; count++) {
      await this.#clock.sleep(this.#random.integer(90_000));
      const fault = FAULTS[count % FAULTS.length]!;
      this.#faults[fault] = (this.#faults[fault] ?? 0) + 1;
      await this.#cause(fault);
    }
  }

  async #cause(fault: (typeof FAULTS)[number]): Promise<void> {
    const awayMs = 1_000 + this.#random.integer(20_000);
    if (fault === 'cut') this.#service.cutConnections();
    if (fault === 'silence') this.#service.silenceConnections();
    if (fault === 'sleep') await this.#machine.sleep(20_000 + this.#random.integer(600_000));
    if (fault === 'stop' || fault === 'kill') await this.#service.restart(fault, awayMs);
    if (fault === 'crash' || fault === 'interrupt') {
      if (fault === 'crash') this.#machine.crash();
      else this.#machine.stop();
      this.#service.cutConnections();
      await this.#clock.sleep(awayMs);
      this.#machine = this.#start();
    }
  }
}

/** A run of the program on the user's machine: it goes on where the last one has ended. */
class Machine {
  readonly #clock: Clock;
  readonly #service: SimulatedService;
  readonly #stop = new AbortController();
  readonly #positions: Disposable;
  #isCrashed = false;
  #awake: Promise<void> = Promise.resolve();

  constructor(
    clock: ManualClock,
    { service, target, file }: { service: SimulatedService; target: Target; file: string },
  ) {
    this.#service = service;
    this.#clock = {
      now: clock.now,
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        await this.#awake;
        // What has crashed never goes on.
        if (this.#isCrashed) await new Promise(() => undefined);
      },
    };
    const { signal } = this.#stop;
    const state = readState(file);
    const after = state.position?.resumeId ?? new Date(STARTED_MS).toISOString();
    const positions = openPositionFile(file, state, SERVICE, this.#clock);
    this.#positions = positions;
    const client = new Verbatim({ apiKey: 'vb_test', baseUrl: SERVICE, fetch: service.fetch, clock: this.#clock });
    const forwarder = new Forwarder({
      targets: readTargets('localhost:3000/hooks', []),
      signing: { secret: target.secret, headerPrefix: 'X-Service-' },
      post: target.postFrom(this.#clock),
      clock: this.#clock,
      random: Math.random,
      failShare: 0,
      retryDelaysMs: [30_000, 60_000],
      signal,
      onAttempt: () => undefined,
    });
    runListener({
      frames: client.stream({ topics: ['events'], after, signal }),
      forwarder,
      webhookId: null,
      onFrame: () => undefined,
      onPosition: (id) => positions.save(id),
    }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  /** The connections are gone when the machine wakes up, and nobody told. */
  async sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awake = promise;
    this.#service.silenceConnections();
    await this.#service.clock.sleep(ms);
    resolve();
  }

  /** As `kill -9`: nothing is written any more. */
  crash(): void {
    this.#isCrashed = true;
  }

  /** As Ctrl-C. */
  stop(): void {
    this.#stop.abort();
    this.#positions[Symbol.dispose]();
  }
}

/** The user's server: it refuses some events at first. */
class Target {
  readonly secret = makeSecret();
  readonly received = new Map<string, string>();
  readonly wrong: string[] = [];
  readonly trace = createHash('sha256');
  readonly #refused = new Set<string>();
  readonly #clock: ManualClock;
  readonly #random: Random;
  duplicates = 0;

  constructor(clock: ManualClock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  postFrom(clock: Clock): Post {
    return async (_url, { headers, body }, signal) => {
      await clock.sleep(this.#random.integer(200), signal);
      signal.throwIfAborted();
      const status = this.#receive(headers, body);
      await clock.sleep(this.#random.integer(50), signal);
      signal.throwIfAborted();
      return { kind: 'answered', status, headers: {}, body: '' };
    };
  }

  #receive(headers: Record<string, string>, body: string): number {
    const { id } = verifyDelivery({ secret: this.secret, headers, body, now: this.#clock.now() });
    if (!this.#refused.has(id) && this.#random.next() < 0.05) {
      this.#refused.add(id);
      return 503;
    }
    const before = this.received.get(id);
    if (before !== undefined) this.duplicates += 1;
    if (before !== undefined && before !== body) this.wrong.push(id);
    this.received.set(id, body);
    this.trace.update(`${this.#clock.now()} ${id}\n`);
    return 204;
  }
}
