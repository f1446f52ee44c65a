import type { Call, Calls } from '../calls.ts';
import { exactly, type History, NEVER, type Operation, perhaps } from '../judge/history.ts';
import { ordered, type UsedObject } from './promise.ts';

const NAME = 'a revoked key ends at once, on other nodes within a second';
const ELSEWHERE_US = 1_000_000;
const PAUSE_MS = 120;
const USED_MS = 1_500;
// Much longer than other nodes may take.
const REVOKED_MS = 3_000;

/** A key that is used on both nodes until some time after it was revoked. */
class RevokedKey implements UsedObject {
  readonly #calls: Calls;
  readonly #owner: Record<string, string>;
  #id = '';
  readonly #uses: Call[] = [];
  readonly #revocations: Call[] = [];

  constructor(calls: Calls, owner: Record<string, string>) {
    this.#calls = calls;
    this.#owner = owner;
  }

  async use(): Promise<void> {
    const headers = { ...this.#owner, 'idempotency-key': this.#calls.tag('key-') };
    const made = await this.#calls.sure(NAME, [201], { method: 'POST', path: '/v1/keys', headers, body: {} });
    this.#id = made.json.id;
    const ending = new AbortController();
    const user = async (node: number) => {
      while (!ending.signal.aborted) {
        const request = { node, path: '/v1/account', headers: { 'x-api-key': made.json.key } };
        const answer = await this.#calls.send(NAME, request);
        if (answer.status === 200 || answer.status === 401) this.#uses.push(answer);
        await this.#calls.pause(PAUSE_MS);
      }
    };
    const users = [0, 1].map(user);
    await this.#calls.pause(USED_MS);
    for (let isDone = false; !isDone; ) {
      const path = `/v1/keys/${this.#id}`;
      const answer = await this.#calls.send(NAME, { method: 'DELETE', path, headers: this.#owner });
      if (answer.type !== 'fail') this.#revocations.push(answer);
      isDone = answer.status === 204 || answer.status === 404;
      if (!isDone) await this.#calls.pause(PAUSE_MS);
    }
    await this.#calls.pause(REVOKED_MS);
    ending.abort();
    await Promise.all(users);
  }

  async history(): Promise<History> {
    // Only a 204 says that this node revoked it.
    const revokedBy = this.#revocations.find(({ status }) => status === 204)?.node;
    const operations = [...this.#uses.map((use) => useOf(use, revokedBy)), ...this.#revocations.map(revocationOf)];
    return { name: this.#id, start: { alive: 1 }, operations };
  }
}

function useOf({ call, return: ended, node, status }: Call, revokedBy: number | undefined): Operation {
  const isAccepted = status === 200;
  const earlier = isAccepted && node !== revokedBy ? ELSEWHERE_US : 0;
  const outcomes = [{ when: { alive: exactly(isAccepted ? 1 : 0) } }];
  return { label: `used on node ${node}: ${status}`, call: call - earlier, return: ended, outcomes };
}

function revocationOf({ call, return: ended, node, status }: Call): Operation {
  const label = `revoked by node ${node}: ${status}`;
  const revoked = { when: { alive: exactly(1) }, set: { alive: 0 } };
  if (status === 204) return { label, call, return: ended, outcomes: [revoked] };
  if (status === 404) return { label, call, return: ended, outcomes: [{ when: { alive: exactly(0) } }] };
  return { label, call, return: NEVER, outcomes: perhaps(revoked) };
}

export const REVOCATION = ordered(NAME, 1, async (calls) => new RevokedKey(calls, (await calls.account(NAME)).headers));
