import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Random, randomFrom } from '../fixtures/random.ts';
import { temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Received } from '../fixtures/webhooks/receiver.ts';
import { Calls, nowUs } from './calls.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { FAULTS, type Fault, powerCut } from './faults.ts';
import { explain } from './judge/linearizable.ts';
import { openJudge } from './judge/porcupine.ts';
import { type FileSystem, openPowerDisk } from './power/power-disk.ts';
import { BALANCE } from './promises/balance.ts';
import { answerToEvent, jobEvents } from './promises/events.ts';
import { IDEMPOTENCY } from './promises/idempotency.ts';
import { JOBS } from './promises/jobs.ts';
import type { Evidence, ServicePromise } from './promises/promise.ts';
import { RATE_LIMITS } from './promises/rate-limit.ts';
import { REVOCATION } from './promises/revocation.ts';
import { STREAM } from './promises/stream.ts';
import { webhookChange } from './promises/webhook-change.ts';
import { webhookLimit } from './promises/webhook-limit.ts';

/** The verdict about a promise in a run. */
export type Row = {
  promise: string;
  judge: string;
  /** Calls of its clients, and those among them of which nobody knows what they did. */
  calls: number;
  unknown: number;
  /** Histories, or elements of a set or queue. */
  objects: number;
  /** Sentences, each about an object that the judge refuses. */
  refused: string[];
};

export type Run = {
  seed: number;
  /** Of the disk whose power was cut; null in a run without power cuts. */
  fileSystem: FileSystem | null;
  /** How long each fault lasted. */
  faults: { name: string; seconds: number }[];
  rows: Row[];
  /** Why the run proves nothing, or too little; none is allowed. */
  gaps: string[];
  seconds: number;
};

export type RunOptions = {
  seed: number;
  /** Cuts the power of a disk with this file system instead. */
  fileSystem?: FileSystem;
  /** Each once, in an order of the seed; by default all. */
  faults?: readonly Fault[];
  /** Of whose names the words are a part; by default all. */
  only?: string[];
  /** How many answers each promise's clients get at least. */
  answers?: number;
  /** Further settings of both nodes. */
  env?: Record<string, string>;
  /** Where calls are written, as lines of JSON. */
  file?: string;
  onFault?: (name: string) => void;
};

/** What a run must not have, as sentences. */
export function problemsOf({ rows, gaps }: Run): string[] {
  return [...gaps, ...rows.flatMap(({ promise, refused }) => refused.map((what) => `${promise}: ${what}`))];
}

/** Answers that a promise's clients got, below which a run is not one. */
const FLOOR = 40;
const ANSWERS_AFTER_FAULT = 3;
const POWER_CUTS = 5;
const WAIT_MS = 120_000;

/** Uses two nodes under one fault after the other, and judges what the clients saw. */
export async function prove({ seed, fileSystem, only, env, file, onFault, ...options }: RunOptions): Promise<Run> {
  const startedAtMs = performance.now();
  const random = randomFrom(seed);
  await using receiver = await openReceiver({ reply: answerToEvent });
  await using disk = fileSystem ? await openPowerDisk(fileSystem) : openFolder();
  const faults = 'cut' in disk ? Array.from({ length: POWER_CUTS }, () => powerCut(disk)) : (options.faults ?? FAULTS);
  await using cluster = await openCluster(receiver, disk.folder, env);
  const calls = new Calls(cluster, randomFrom(seed + 1), file ?? null);
  const url = receiver.url.replace('/hook', '');
  const chosen = promisesAt(url, receiver.requests).filter(
    ({ name }) => !only || only.some((words) => name.includes(words)),
  );
  const inUse = chosen.map(({ name, open }) => ({ name, promise: open(calls) }));
  const using = Promise.all(inUse.map(({ promise }) => promise.use()));
  // A client that fails ends the run at once.
  const failed = using.then(() => new Promise<never>(() => undefined));

  const names = chosen.map(({ name }) => name);
  const timeline = new Timeline(calls, names);
  const gaps: string[] = [];
  await Promise.race([runFaults(), failed]);
  calls.end();
  await using;

  const judge = openJudge();
  const rows: Row[] = [];
  for (const { name, promise } of inUse) rows.push(await rowOf(calls, name, await promise.evidence(), judge));
  const seconds = Math.round((performance.now() - startedAtMs) / 1000);
  return { seed, fileSystem: fileSystem ?? null, faults: timeline.faults, rows, gaps, seconds };

  async function runFaults(): Promise<void> {
    await timeline.answersSince(nowUs(), ANSWERS_AFTER_FAULT);
    for (const fault of shuffled(faults, random)) {
      onFault?.(fault.name);
      gaps.push(...(await timeline.during(fault, cluster, random)));
    }
    gaps.push(...(await timeline.answersSince(0, options.answers ?? FLOOR)));
  }
}

/** Which calls fell into which fault. */
class Timeline {
  readonly faults: Run['faults'] = [];
  readonly #calls: Calls;
  readonly #names: string[];

  constructor(calls: Calls, names: string[]) {
    this.#calls = calls;
    this.#names = names;
  }

  /** Lets a fault last until a call of each promise has begun in it. Sentences about promises that were not called. */
  async during(fault: Fault, cluster: Cluster, random: Random): Promise<string[]> {
    const beganUs = nowUs();
    const end = await fault.begin(cluster, random.pick(cluster.nodes), random);
    const untouched = await this.#lacking(({ call }) => call > beganUs, 1);
    await pause(Math.max(0, (fault.seconds ?? 0) * 1000 - (nowUs() - beganUs) / 1000));
    await end();
    for (const node of cluster.nodes) await node.heal();
    this.faults.push({ name: fault.name, seconds: Math.round((nowUs() - beganUs) / 1e6) });
    const unanswered = await this.answersSince(nowUs(), ANSWERS_AFTER_FAULT);
    return [
      ...untouched.map((name) => `no call of "${name}" during: ${fault.name}`),
      ...unanswered.map((gap) => `after ${fault.name}, ${gap}`),
    ];
  }

  /** Waits for so many answers of each promise. Sentences about promises that got fewer. */
  async answersSince(sinceUs: number, count: number): Promise<string[]> {
    const lacking = await this.#lacking(({ call, type }) => call >= sinceUs && type === 'ok', count);
    return lacking.map((name) => `fewer than ${count} answers of "${name}"`);
  }

  /** The promises without so many of these calls, after some time for them. */
  async #lacking(counts: (call: Calls['recorded'][number]) => boolean, count: number): Promise<string[]> {
    const lacking = () =>
      this.#names.filter((name) => this.#calls.recorded.filter((c) => c.promise === name && counts(c)).length < count);
    await until('calls of each promise', () => lacking().length === 0, WAIT_MS).catch(() => undefined);
    return lacking();
  }
}

async function rowOf(
  calls: Calls,
  promise: string,
  evidence: Evidence,
  judge: ReturnType<typeof openJudge>,
): Promise<Row> {
  const own = calls.recorded.filter((call) => call.promise === promise);
  const row = { promise, calls: own.length, unknown: own.filter(({ type }) => type === 'info').length };
  if (evidence.kind !== 'order') {
    return { ...row, judge: evidence.kind, objects: evidence.objects, refused: evidence.findings };
  }
  const { histories } = evidence;
  const verdicts = await judge.verdicts(histories);
  const refused = histories.flatMap((history, i) => {
    if (verdicts[i] === 'accepted') return [];
    calls.note(promise, { history });
    return [`${history.name} is ${verdicts[i]}, at: ${explain(history).stuckAt}`];
  });
  return { ...row, judge: judge.name, objects: histories.length, refused };
}

function openFolder() {
  const folder = temporaryFolder();
  const remove = async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  return { folder, [Symbol.asyncDispose]: remove };
}

function promisesAt(url: string, received: Received[]): ServicePromise[] {
  return [
    BALANCE,
    webhookLimit(`${url}/limit`),
    IDEMPOTENCY,
    REVOCATION,
    webhookChange(`${url}/change`),
    RATE_LIMITS,
    JOBS,
    jobEvents(url, received),
    STREAM,
  ];
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const keyed = items.map((item) => ({ item, key: random.next() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
