import { createHash } from 'node:crypto';
import { type Account, type Call, type Calls, nowUs } from '../calls.ts';
import { type Addition, type Read, setFull } from '../judge/set-full.ts';
import { type Evidence, type PromiseInUse, repeat, type ServicePromise } from './promise.ts';
import { follow, upload } from './uploads.ts';

const NAME = 'an accepted job is listed once, and completes once';
const UPLOADERS = 2;
const PAUSE_MS = 500;
const PAGE = 10;

/** Uploads jobs and follows each to its end, and walks through the list meanwhile. */
class Jobs implements PromiseInUse {
  readonly #calls: Calls;
  #account!: Account;
  readonly #added: Addition[] = [];
  readonly #walks: Read[] = [];
  readonly #follows: Promise<unknown>[] = [];
  /** Each end that was seen of a job, by its id. */
  readonly #ends = new Map<string, Set<string>>();

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async use(): Promise<void> {
    this.#account = await this.#calls.account(NAME);
    const add = () => repeat(this.#calls, UPLOADERS, () => this.#add());
    await Promise.all([add(), repeat(this.#calls, 1, () => this.#walk())]);
    await Promise.all(this.#follows);
  }

  async #add(): Promise<void> {
    const tag = this.#calls.tag('job');
    const answer = await upload(this.#calls, NAME, this.#account, 1 + this.#calls.random.integer(2), tag);
    const known = answer.status === 202 ? answer.return : Number.POSITIVE_INFINITY;
    if (answer.status === 202 || answer.type === 'info') this.#added.push({ element: tag, call: answer.call, known });
    if (answer.status === 202) this.#follows.push(this.#follow(answer.json.id));
    await this.#calls.pause(PAUSE_MS);
  }

  async #follow(id: string): Promise<void> {
    const end = await follow(this.#calls, NAME, this.#account, id, ({ status }) => {
      if (status === 404) this.#ends.set(id, new Set([...(this.#ends.get(id) ?? []), 'not found']));
    });
    this.#see(end.json);
  }

  #see(job: Call['json']): void {
    const { id, status, cost, completed_at, text } = job;
    const end = `${status} at ${completed_at} for ${cost}, text ${createHash('sha256')
      .update(text ?? '')
      .digest('hex')}`;
    this.#ends.set(id, new Set([...(this.#ends.get(id) ?? []), end]));
  }

  async #walk(): Promise<Call['json'][]> {
    const call = nowUs();
    const jobs = await this.#calls.list(NAME, '/v1/jobs', this.#account.headers, PAGE);
    const elements = jobs.map(({ metadata }) => metadata.tag);
    this.#walks.push({ call, return: nowUs(), elements });
    await this.#calls.pause(PAUSE_MS);
    return jobs;
  }

  async evidence(): Promise<Evidence> {
    const path = (id: string) => ({ path: `/v1/jobs/${id}`, headers: this.#account.headers });
    for (const id of this.#ends.keys()) this.#see((await this.#calls.sure(NAME, [200], path(id))).json);
    const listed = await this.#walk();
    const found = Object.entries(setFull(this.#added, this.#walks)).flatMap(([kind, tags]) =>
      tags.map((tag) => `${kind}: ${tag}`),
    );
    const open = listed.filter(({ status }) => status !== 'completed').map((job) => `${job.id} is ${job.status}`);
    const changed = [...this.#ends]
      .filter(([, ends]) => ends.size > 1)
      .map(([id, ends]) => `${id}: ${[...ends].join('; ')}`);
    return { kind: 'set-full', findings: [...found, ...open, ...changed], objects: this.#added.length };
  }
}

export const JOBS: ServicePromise = { name: NAME, open: (calls) => new Jobs(calls) };
