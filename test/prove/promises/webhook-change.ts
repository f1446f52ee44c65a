import type { Call, Calls } from '../calls.ts';
import { exactly, type History, type Operation } from '../judge/history.ts';
import { ordered, type ServicePromise, type UsedObject } from './promise.ts';

const NAME = 'a webhook reads as it was last changed';
const PAUSE_MS = 300;
const MAX_OPERATIONS = 200;
/** What no change has written. */
const TORN = -1;

type Write = { answer: Call; value: number };

/** A webhook whose url and description are changed together, and read all the time. */
class ChangedWebhook implements UsedObject {
  readonly #calls: Calls;
  readonly #headers: Record<string, string>;
  readonly #url: string;
  #id = '';
  #values = 0;
  readonly #writes: Write[] = [];
  readonly #reads: Call[] = [];

  constructor(calls: Calls, headers: Record<string, string>, url: string) {
    this.#calls = calls;
    this.#headers = headers;
    this.#url = url;
  }

  async use(): Promise<void> {
    const headers = { ...this.#headers, 'idempotency-key': this.#calls.tag('webhook-') };
    const body = { ...this.#fieldsOf(0), events: ['webhook.test'] };
    const made = await this.#calls.sure(NAME, [201], { method: 'POST', path: '/v1/webhooks', headers, body });
    this.#id = made.json.id;
    const client = async (step: () => Promise<void>) => {
      while (!this.#calls.isOver && this.#writes.length + this.#reads.length < MAX_OPERATIONS) {
        await step();
        await this.#calls.pause(PAUSE_MS);
      }
    };
    const [write, read] = [() => this.#write(), () => this.#read()];
    await Promise.all([write, write, read, read].map(client));
  }

  #fieldsOf(value: number) {
    return { url: `${this.#url}/${value}`, description: String(value) };
  }

  async #write(): Promise<void> {
    const value = ++this.#values;
    const [path, body] = [`/v1/webhooks/${this.#id}`, this.#fieldsOf(value)];
    const answer = await this.#calls.send(NAME, { method: 'PATCH', path, headers: this.#headers, body });
    this.#writes.push({ answer, value });
  }

  async #read(): Promise<void> {
    const answer = await this.#calls.send(NAME, { path: `/v1/webhooks/${this.#id}`, headers: this.#headers });
    if (answer.status === 200) this.#reads.push(answer);
  }

  async history(): Promise<History> {
    const operations = [...this.#writes.flatMap((write) => this.#writeOf(write)), ...this.#reads.map(readOf)];
    return { name: this.#id, start: {}, operations };
  }

  /** A change without an answer that nobody has read is left out: with it, the other calls have the same orders. */
  #writeOf({ answer, value }: Write): Operation[] {
    const { call, status } = answer;
    const label = `write ${value}: ${status}`;
    const outcomes = [{ set: { value } }];
    if (status === 200) {
      return [{ label, call, return: answer.return, outcomes: valueIn(answer) === value ? outcomes : [] }];
    }
    const seen = this.#reads.filter((read) => valueIn(read) === value).map((read) => read.return);
    return seen.length > 0 ? [{ label, call, return: Math.min(...seen), outcomes }] : [];
  }
}

function valueIn({ json }: Call): number {
  return json.url.endsWith(`/${json.description}`) ? Number(json.description) : TORN;
}

function readOf(answer: Call): Operation {
  const value = valueIn(answer);
  const outcomes = [{ when: { value: exactly(value) } }];
  return { label: `read ${value}`, call: answer.call, return: answer.return, outcomes };
}

/** @param url  where webhooks may point */
export function webhookChange(url: string): ServicePromise {
  return ordered(NAME, 1, async (calls) => new ChangedWebhook(calls, (await calls.account(NAME)).headers, url));
}
