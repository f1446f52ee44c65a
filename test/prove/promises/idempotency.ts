import { randomUUID } from 'node:crypto';
import type { Account, Call, Calls } from '../calls.ts';
import { exactly, type History, NEVER, type Operation, type Outcome, perhaps } from '../judge/history.ts';
import { ordered, type UsedObject } from './promise.ts';
import { upload } from './uploads.ts';

const NAME = 'an Idempotency-Key does its work once';
const CALLERS = 3;
const CALLS_EACH = 3;
const OTHER_BODY_SHARE = 0.15;
const PAUSE_MS = 400;
/** The answer of a request that may have done its work, and that nobody has seen. */
const UNSEEN = -1;

type Post = { answer: Call; body: number };

/** One Idempotency-Key with which several clients make a job or an API key, some with another body. */
class KeyedRequest implements UsedObject {
  readonly #calls: Calls;
  readonly #account: Account;
  readonly #tag: string;
  readonly #makesJob: boolean;
  readonly #key = randomUUID();
  readonly #posts: Post[] = [];

  constructor(calls: Calls, account: Account) {
    this.#calls = calls;
    this.#account = account;
    this.#tag = calls.tag('once');
    this.#makesJob = calls.random.next() < 0.5;
  }

  async use(): Promise<void> {
    const caller = async () => {
      for (let i = 0; i < CALLS_EACH; i++) {
        const body = this.#calls.random.next() < OTHER_BODY_SHARE ? 2 : 1;
        this.#posts.push({ answer: await this.#post(body), body });
        await this.#calls.pause(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  }

  #post(body: number): Promise<Call> {
    const headers = { ...this.#account.headers, 'idempotency-key': this.#key };
    if (this.#makesJob) return upload(this.#calls, NAME, { ...this.#account, headers }, body, this.#tag);
    // The first word of the name is the tag.
    return this.#calls.send(NAME, {
      method: 'POST',
      path: '/v1/keys',
      headers,
      body: { name: `${this.#tag} ${body}` },
    });
  }

  async history(): Promise<History> {
    const made = await this.#made();
    const ids: string[] = [];
    const numberOf = (id: string) => (ids.includes(id) ? ids.indexOf(id) + 1 : ids.push(id));
    const operations = this.#posts.flatMap((post) => operationOf(post, numberOf));
    const done: Outcome[] = made.length === 0 ? [{ when: { answer: exactly(0) } }] : [];
    if (made.length === 1) {
      done.push(...[numberOf(made[0]!), UNSEEN].map((answer) => ({ when: { answer: exactly(answer) } })));
    }
    operations.push({ label: `made ${made.join(' ')}`, call: NEVER - 1, return: NEVER, outcomes: done });
    return { name: this.#tag, start: {}, operations };
  }

  /** The ids of what was made. */
  async #made(): Promise<string[]> {
    const { headers } = this.#account;
    if (this.#makesJob) {
      const jobs = await this.#calls.list(NAME, `/v1/jobs?metadata[tag]=${this.#tag}`, headers);
      return jobs.map(({ id }) => id);
    }
    const keys = await this.#calls.list(NAME, '/v1/keys', headers);
    return keys.filter(({ name }) => name?.split(' ')[0] === this.#tag).map(({ id }) => id);
  }
}

function operationOf({ answer, body }: Post, numberOf: (id: string) => number): Operation[] {
  const { call, status, type, json, headers } = answer;
  const label = `body ${body}: ${status} ${json?.id ?? ''}`;
  if (type === 'info') {
    const outcomes = perhaps({ when: { answer: exactly(0) }, set: { answer: UNSEEN, body } });
    return [{ label, call, return: NEVER - 2, outcomes }];
  }
  // Another request with the key is in progress, or had another body: it tells nothing of what was done.
  if (status !== 201 && status !== 202) return [];
  const id = numberOf(json.id);
  const isReplayed = headers.get('idempotent-replayed') === 'true';
  const first = { when: { answer: exactly(0) }, set: { answer: id, body } };
  const again = [id, UNSEEN].map((known) => ({
    when: { answer: exactly(known), body: exactly(body) },
    set: { answer: id },
  }));
  return [{ label, call, return: answer.return, outcomes: isReplayed ? again : [first] }];
}

export const IDEMPOTENCY = ordered(NAME, 2, async (calls) => new KeyedRequest(calls, await calls.account(NAME)));
