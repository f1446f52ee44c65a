import { setTimeout as delay } from 'node:timers/promises';
import { framesOf } from '../../fixtures/stream.ts';
import { type Account, type Calls, nowUs, usOf } from '../calls.ts';
import { setFull } from '../judge/set-full.ts';
import { type Evidence, type PromiseInUse, repeat, type ServicePromise } from './promise.ts';
import { upload } from './uploads.ts';

const NAME = "an account's stream loses nothing, over cuts and nodes";
const FOLLOWERS = 2;
const PAUSE_MS = 600;
const CONNECTED_MS = 5_000;
const RECONNECT_MS = 300;
/** How much older than another one a frame may be that follows it, and than the place of a resume. */
const MAX_BACK_US = 60_000_000;
const DRAIN_MS = 60_000;

/** Follows the stream of an account over many connections, each cut after some seconds and resumed on any node. */
class Follower {
  readonly seen = new Set<string>();
  readonly wentBack: string[] = [];
  readonly #calls: Calls;
  readonly #account: Account;
  readonly #ending = new AbortController();
  readonly #began = Promise.withResolvers<void>();
  #lastId: string | null = null;
  #newestUs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(calls: Calls, account: Account) {
    this.#calls = calls;
    this.#account = account;
  }

  /** Resolves when it is told of all that comes from now on. */
  async begin(): Promise<void> {
    this.#running = this.#follow();
    await this.#began.promise;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      const [node, call] = [this.#calls.random.integer(2), nowUs()];
      const end = AbortSignal.any([
        this.#ending.signal,
        AbortSignal.timeout(Math.round(CONNECTED_MS * (0.5 + this.#calls.random.next()))),
      ]);
      const status = await this.#connect(node, end).catch(() => 0);
      const headers = new Headers();
      const type = status === 200 ? 'ok' : 'info';
      this.#calls.record({ promise: NAME, node, call, return: nowUs(), type, status, json: null, headers });
      await this.#calls.pause(RECONNECT_MS);
    }
  }

  /** Reads until the connection ends. The status of its answer. */
  async #connect(node: number, signal: AbortSignal): Promise<number> {
    const url = `${this.#calls.baseUrl(node)}/v1/stream?topics=events,jobs`;
    const resume: Record<string, string> = this.#lastId ? { 'last-event-id': this.#lastId } : {};
    const answer = await fetch(url, { headers: { ...this.#account.headers, ...resume }, signal });
    if (answer.status !== 200) return answer.status;
    let newest = this.#newestUs;
    try {
      for await (const { event, id, data } of framesOf(answer.body!)) {
        if (event === 'hello') this.#began.resolve();
        if (event === 'gap') this.wentBack.push(`a gap after ${data.from}`);
        if (event === 'job') this.seen.add(`${data.id} ${data.status}`);
        if (event === 'event') {
          this.seen.add(data.id);
          const createdUs = usOf(data.created_at);
          if (createdUs < newest - MAX_BACK_US) this.wentBack.push(`${data.id} of ${data.created_at}`);
          newest = Math.max(newest, createdUs);
        }
        if (id !== null) this.#lastId = id;
        this.#newestUs = newest;
      }
    } catch {
      // The connection was cut, by us or by a fault.
    }
    return 200;
  }
}

/** Uploads jobs of an account whose stream is followed. */
class Stream implements PromiseInUse {
  readonly #calls: Calls;
  #account!: Account;
  #followers: Follower[] = [];

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async use(): Promise<void> {
    this.#account = await this.#calls.account(NAME);
    this.#followers = Array.from({ length: FOLLOWERS }, () => new Follower(this.#calls, this.#account));
    await Promise.all(this.#followers.map((follower) => follower.begin()));
    await repeat(this.#calls, 2, async () => {
      await upload(this.#calls, NAME, this.#account, 1, this.#calls.tag('stream'));
      await this.#calls.pause(PAUSE_MS);
    });
  }

  async evidence(): Promise<Evidence> {
    const { headers } = this.#account;
    const list = (path: string) => this.#calls.list(NAME, path, headers);
    const isOpen = async () => (await list('/v1/jobs')).some(({ status }) => /queued|processing/.test(status));
    while (await isOpen()) await this.#calls.pause(PAUSE_MS);
    const events = (await list('/v1/events')).map(({ id }) => id as string);
    const ends = (await list('/v1/jobs')).map(({ id, status }) => `${id} ${status}`);
    const lacks = () => this.#followers.some(({ seen }) => [...events, ...ends].some((what) => !seen.has(what)));
    for (const endsAtMs = performance.now() + DRAIN_MS; lacks() && performance.now() < endsAtMs; )
      await delay(PAUSE_MS);
    await Promise.all(this.#followers.map((follower) => follower.end()));

    const end = nowUs();
    const additions = [...events, ...ends].map((element) => ({ element, call: 0, known: end }));
    const findings = this.#followers.flatMap((follower, number) => {
      const elements = [...follower.seen].filter((what) => !/ (queued|processing)$/.test(what));
      const { lost, unexpected } = setFull(additions, [{ call: end + 1, return: end + 1, elements }]);
      return [
        ...lost.map((what) => `follower ${number} lacks ${what}`),
        ...unexpected.map((what) => `follower ${number} got ${what}, which is in no list`),
        ...follower.wentBack.map((what) => `follower ${number} went back to ${what}`),
      ];
    });
    return { kind: 'set-full', objects: additions.length, findings };
  }
}

export const STREAM: ServicePromise = { name: NAME, open: (calls) => new Stream(calls) };
