import type { Account, Call, Calls } from '../calls.ts';
import { exactly, type History, NEVER, type Operation, perhaps } from '../judge/history.ts';
import { ordered, type ServicePromise, type UsedObject } from './promise.ts';

const NAME = 'an account never has more than its 5 webhooks';
const LIMIT = 5;
const PAUSE_MS = 300;
const MAX_OPERATIONS = 150;
const CLIENTS = 3;

type Created = { answer: Call; tag: string };
type Deleted = { answer: Call; tag: string };

/** An account whose webhooks are created, deleted and listed all the time. */
class Endpoints implements UsedObject {
  readonly #calls: Calls;
  readonly #account: Account;
  readonly #url: string;
  readonly #created: Created[] = [];
  readonly #deleted: Deleted[] = [];
  readonly #lists: Call[] = [];
  /** Descriptions by id. */
  readonly #known = new Map<string, string>();

  constructor(calls: Calls, account: Account, url: string) {
    this.#calls = calls;
    this.#account = account;
    this.#url = url;
  }

  async use(): Promise<void> {
    const client = async () => {
      while (!this.#calls.isOver && this.#created.length + this.#deleted.length + this.#lists.length < MAX_OPERATIONS) {
        const chance = this.#calls.random.next();
        if (chance < 0.45) await this.#create();
        else if (chance < 0.7) await this.#delete();
        else await this.#list();
        await this.#calls.pause(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  async #create(): Promise<void> {
    const tag = this.#calls.tag('w');
    const body = { url: this.#url, events: ['webhook.test'], description: tag };
    const answer = await this.#send('POST', '/v1/webhooks', body);
    if (answer.status === 201) this.#known.set(answer.json.id, tag);
    if (answer.type !== 'fail') this.#created.push({ answer, tag });
  }

  async #delete(): Promise<void> {
    if (this.#known.size === 0) return;
    const [id, tag] = this.#calls.random.pick([...this.#known]);
    const answer = await this.#send('DELETE', `/v1/webhooks/${id}`);
    // Some are deleted twice.
    if (answer.status === 404 || (answer.status === 204 && this.#calls.random.next() < 0.8)) this.#known.delete(id);
    if (answer.type !== 'fail') this.#deleted.push({ answer, tag });
  }

  async #list(): Promise<void> {
    const answer = await this.#send('GET', '/v1/webhooks?limit=100');
    if (answer.status !== 200) return;
    this.#lists.push(answer);
    for (const { id, description } of answer.json.data) this.#known.set(id, description);
  }

  #send(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Call> {
    return this.#calls.send(NAME, { method, path, headers: this.#account.headers, body });
  }

  async history(): Promise<History> {
    const path = '/v1/webhooks?limit=100';
    this.#lists.push(await this.#calls.sure(NAME, [200], { path, headers: this.#account.headers }));
    return {
      name: this.#account.id,
      start: {},
      operations: [
        ...this.#created.flatMap((created) => creationOf(created, this.#firstListWith(created.tag))),
        ...this.#deleted.map(deletionOf),
        ...this.#lists.map(listOf),
      ],
    };
  }

  #firstListWith(tag: string): Call | undefined {
    const having = this.#lists.filter(({ json }) =>
      json.data.some((row: { description: string }) => row.description === tag),
    );
    return having.sort((a, b) => a.return - b.return)[0];
  }
}

/** Without an answer and in no list, nobody could have deleted it: it was not created. */
function creationOf({ answer, tag }: Created, firstList: Call | undefined): Operation[] {
  const { call, status } = answer;
  const label = `create ${tag}: ${status}`;
  const added = { when: { count: [0, LIMIT - 1] as const }, add: { count: 1 }, set: { [tag]: 1 } };
  if (status === 201) return [{ label, call, return: answer.return, outcomes: [added] }];
  if (status === 403) return [{ label, call, return: answer.return, outcomes: [{ when: { count: exactly(LIMIT) } }] }];
  return firstList ? [{ label, call, return: firstList.return, outcomes: [added] }] : [];
}

function deletionOf({ answer, tag }: Deleted): Operation {
  const { call, status } = answer;
  const label = `delete ${tag}: ${status}`;
  const removed = { when: { [tag]: exactly(1) }, add: { count: -1 }, set: { [tag]: 0 } };
  if (status === 204) return { label, call, return: answer.return, outcomes: [removed] };
  if (status === 404) return { label, call, return: answer.return, outcomes: [{ when: { [tag]: exactly(0) } }] };
  return { label, call, return: NEVER, outcomes: perhaps(removed) };
}

function listOf({ call, return: ended, json }: Call): Operation {
  const tags: string[] = json.data.map(({ description }: { description: string }) => description);
  const when = { count: exactly(tags.length), ...Object.fromEntries(tags.map((tag) => [tag, exactly(1)])) };
  return { label: `list ${tags.sort().join(' ')}`, call, return: ended, outcomes: [{ when }] };
}

/** @param url  where webhooks may point */
export function webhookLimit(url: string): ServicePromise {
  return ordered(NAME, 1, async (calls) => new Endpoints(calls, await calls.account(NAME), url));
}
