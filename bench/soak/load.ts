import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { eventIdOfJob } from '../../src/rules/ids.ts';
import { LiveClient } from '../../test/fixtures/live-client.ts';
import type { ServiceAccount, TestService } from '../../test/fixtures/service.ts';
import type { Arrival } from '../delivery/watching-receiver.ts';
import { nowMs } from '../figures.ts';

export type Client = ServiceAccount & { webhookIds: string[] };

/** What is timed: an upload until 202, one until its result, one until its webhook, the end of a session, a page. */
export const TIMED = ['accepted', 'synchronous', 'webhook', 'live end', 'page'] as const;
export type Timed = (typeof TIMED)[number];

const SPEECH = ['librivox-0880', 'librivox-0930', 'librivox-0890', 'jfk'].map((name) => {
  const wav = readFileSync(new URL(`../../assets/speech/${name}.wav`, import.meta.url));
  return { name, wav, pcm: wav.subarray(44) };
});
const BYTES_PER_MS = 32;
const FRAME_MS = 100;
const REQUEST_TIMEOUT_MS = 60_000;
const PAGE_PAUSE_MS = 1_000;
// More work under way than this means that the service has stopped.
const MOST_UNDER_WAY = 500;
const LOST_AFTER_MS = 10 * 60_000;

/** What ten uploads in turn are: six wait for their webhook, two for their answer, one is no audio, one is canceled. */
const TURNS = ['async', 'sync', 'async', 'async', 'no audio', 'async', 'sync', 'async', 'canceled', 'async'] as const;

/** Mixed work of several accounts: uploads at a steady rate, live sessions in turn, and the pages of the console. */
export class MixedLoad {
  readonly #service: TestService;
  readonly #clients: Client[];
  readonly #stopping = new AbortController();
  readonly #loops: Promise<void>[] = [];
  readonly #awaited = new Map<string, number>();
  #times = new Map<Timed, number[]>();
  #underWay = 0;
  /** Uploads and sessions that were begun. */
  begun = 0;
  /** Answers that were not expected, by what they were. */
  readonly failures = new Map<string, number>();

  constructor(service: TestService, clients: Client[]) {
    this.#service = service;
    this.#clients = clients;
  }

  /** @param sessions  live sessions at any time */
  start(jobsPerMinute: number, sessions: number): void {
    this.#loops.push(this.#uploadSteadily(60_000 / jobsPerMinute), this.#readPages());
    for (let at = 0; at < sessions; at++) this.#loops.push(this.#speak(this.#clients[at % this.#clients.length]!));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  /** Jobs a minute with as many synchronous uploads at once, of the same speech. */
  async measureCapacity(atOnce: number, seconds: number): Promise<number> {
    const endMs = nowMs() + seconds * 1000;
    let count = 0;
    const work = async (first: number) => {
      for (let turn = first; nowMs() < endMs; turn += atOnce) {
        await this.#upload('sync', turn);
        count += 1;
      }
    };
    const startedAtMs = nowMs();
    await Promise.all(Array.from({ length: atOnce }, (_, at) => work(at)));
    this.takeTimes([]);
    return (count * 60_000) / (nowMs() - startedAtMs);
  }

  /**
   * The durations in ms since the last call.
   * @param arrivals  at the receiver meanwhile
   */
  takeTimes(arrivals: Arrival[]): Map<Timed, number[]> {
    for (const { eventId, path, atMs } of arrivals) {
      const sentAtMs = path === '/ok' ? this.#awaited.get(eventId) : undefined;
      if (sentAtMs === undefined) continue;
      this.#awaited.delete(eventId);
      this.#keep('webhook', atMs - sentAtMs);
    }
    for (const [eventId, sentAtMs] of this.#awaited) {
      if (nowMs() - sentAtMs < LOST_AFTER_MS) break;
      this.#awaited.delete(eventId);
      this.#fail('no webhook within 10 minutes');
    }
    const times = this.#times;
    this.#times = new Map();
    return times;
  }

  async #uploadSteadily(everyMs: number): Promise<void> {
    const startedAtMs = nowMs();
    for (let turn = 0; !this.#isStopping; turn++) {
      await this.#pause(startedAtMs + turn * everyMs - nowMs());
      if (this.#underWay >= MOST_UNDER_WAY) this.#fail(`${MOST_UNDER_WAY} requests under way`);
      else void this.#upload(TURNS[turn % TURNS.length]!, turn);
    }
  }

  async #upload(kind: (typeof TURNS)[number], turn: number): Promise<void> {
    const client = this.#clients[turn % this.#clients.length]!;
    const { name, wav } = SPEECH[turn % SPEECH.length]!;
    const body = new FormData();
    body.append('file', new Blob([kind === 'no audio' ? 'no audio at all' : new Uint8Array(wav)]), `${name}.wav`);
    body.append('metadata', JSON.stringify({ turn }));
    if (kind !== 'sync') body.append('async', 'true');
    this.begun += 1;
    const sentAtMs = nowMs();
    const { status, json } = await this.#call(client, '/v1/transcribe', { method: 'POST', body });
    const expected = { async: 202, canceled: 202, sync: 200, 'no audio': 422 }[kind];
    if (status !== expected) return this.#fail(`upload (${kind}) answered ${status} ${json?.error?.type ?? ''}`);
    if (kind === 'async') {
      this.#keep('accepted', nowMs() - sentAtMs);
      this.#awaited.set(eventIdOfJob(json.id, 'transcription.completed'), sentAtMs);
    }
    if (kind === 'sync') this.#keep('synchronous', nowMs() - sentAtMs);
    if (kind !== 'canceled') return;
    const canceled = await this.#call(client, `/v1/jobs/${json.id}/cancel`, { method: 'POST' });
    // 409: it has ended already.
    if (![200, 202, 409].includes(canceled.status)) this.#fail(`cancel answered ${canceled.status}`);
  }

  /** One session after the other, each at the pace of speech. */
  async #speak(client: Client): Promise<void> {
    for (let turn = 0; !this.#isStopping; turn++) {
      await this.#session(client, SPEECH[turn % SPEECH.length]!.pcm).catch((error: Error) => {
        this.#fail(`live session: ${error.message}`);
        return this.#pause(PAGE_PAUSE_MS);
      });
    }
  }

  async #session(client: Client, pcm: Buffer): Promise<void> {
    this.begun += 1;
    const created = await this.#call(client, '/v1/live', { method: 'POST' });
    if (created.status !== 201) throw new Error(`answered ${created.status}`);
    const live = new LiveClient(this.#service.baseUrl, created.json);
    await live.connect();
    const startedAtMs = nowMs();
    for (let at = 0; at < pcm.length; at += FRAME_MS * BYTES_PER_MS) {
      await delay(Math.max(0, startedAtMs + at / BYTES_PER_MS - nowMs()));
      live.send(pcm.subarray(at, at + FRAME_MS * BYTES_PER_MS));
    }
    const finishedAtMs = nowMs();
    const { job } = await live.finish();
    live.cut();
    if (job.status !== 'completed') throw new Error(`job ${job.status}`);
    this.#keep('live end', nowMs() - finishedAtMs);
  }

  /** What a console asks for, one page after the other. */
  async #readPages(): Promise<void> {
    for (let turn = 0; !this.#isStopping; turn++) {
      const client = this.#clients[turn % this.#clients.length]!;
      const list = await this.#readPage(client, '/v1/jobs?limit=50');
      const last = list?.data?.find(({ status }: { status: string }) => status === 'completed');
      const webhookId = client.webhookIds[turn % client.webhookIds.length];
      for (const route of [
        ...(last ? [`/v1/jobs/${last.id}`, `/v1/jobs/${last.id}/transcript`] : []),
        `/v1/webhooks/${webhookId}/deliveries?limit=50`,
        ...['/v1/webhooks', '/v1/account', '/v1/usage', '/v1/ledger', '/v1/search?q=rather', '/v1/events'],
      ]) {
        await this.#readPage(client, route);
        await this.#pause(PAGE_PAUSE_MS);
      }
    }
  }

  async #readPage(client: Client, route: string) {
    const startedAtMs = nowMs();
    const { status, json } = await this.#call(client, route, {});
    if (status === 200) this.#keep('page', nowMs() - startedAtMs);
    else this.#fail(`GET ${route.replace(/_[0-9a-z]{26}/, '_…')} answered ${status}`);
    return json;
  }

  /** Status 0 stands for no answer. */
  async #call(client: Client, route: string, options: RequestInit) {
    this.#underWay += 1;
    try {
      const answer = await fetch(this.#service.baseUrl + route, {
        ...options,
        headers: { 'x-api-key': client.key },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const text = await answer.text();
      // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
      return { status: answer.status, json: (text.startsWith('{') ? JSON.parse(text) : null) as any };
    } catch {
      return { status: 0, json: null };
    } finally {
      this.#underWay -= 1;
    }
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #pause(ms: number): Promise<void> {
    return delay(Math.max(0, ms), undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  #keep(timed: Timed, ms: number): void {
    this.#times.set(timed, [...(this.#times.get(timed) ?? []), ms]);
  }

  #fail(what: string): void {
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1);
  }
}
