import type { Account, Call, Calls } from '../calls.ts';
import { ANY, exactly, type History, NEVER, type Operation } from '../judge/history.ts';
import { ordered, type UsedObject } from './promise.ts';
import { follow, upload } from './uploads.ts';

const NAME = 'the balance and its holds follow one order';
const CREDITS = 6;
const MILLI = 1000;
const PAUSE_MS = 500;
// So that a history has some hundred calls.
const MAX_OPERATIONS = 250;
/** Calls without an answer, each at any later time, that the search for an order can bear. */
const MAX_UNKNOWN = 5;

type Grant = { answer: Call; milli: number; tag: string };
type Hold = { answer: Call; milli: number; tag: string; ended: number };

/** An account with a few credits, whose grants, uploads and reads are one history. */
class Purse implements UsedObject {
  readonly #calls: Calls;
  readonly #account: Account;
  readonly #grants: Grant[] = [];
  readonly #holds: Hold[] = [];
  readonly #reads: Call[] = [];
  readonly #follows: Promise<void>[] = [];

  constructor(calls: Calls, account: Account) {
    this.#calls = calls;
    this.#account = account;
  }

  get #isFull(): boolean {
    const changes = [...this.#grants, ...this.#holds];
    const unknown = changes.filter(({ answer }) => answer.type === 'info').length;
    return unknown >= MAX_UNKNOWN || changes.length + this.#holds.length + this.#reads.length >= MAX_OPERATIONS;
  }

  async use(): Promise<void> {
    const until = async (step: () => Promise<void>) => {
      for (; !this.#calls.isOver && !this.#isFull; await this.#calls.pause(PAUSE_MS)) await step();
    };
    const holds = () => until(() => this.#hold());
    await Promise.all([until(() => this.#grant()), holds(), holds(), until(() => this.#read())]);
    await Promise.all(this.#follows);
  }

  async #grant(): Promise<void> {
    const [tag, amount] = [this.#calls.tag('grant'), 1 + this.#calls.random.integer(3)];
    const path = `/admin/v1/accounts/${this.#account.id}/credits`;
    const body = { amount, note: tag };
    const answer = await this.#calls.send(NAME, { method: 'POST', path, headers: this.#calls.admin, body });
    this.#grants.push({ answer, milli: amount * MILLI, tag });
  }

  async #hold(): Promise<void> {
    const [tag, seconds] = [this.#calls.tag('hold'), 1 + this.#calls.random.integer(3)];
    const answer = await upload(this.#calls, NAME, this.#account, seconds, tag);
    const hold = { answer, milli: seconds * MILLI, tag, ended: NEVER };
    this.#holds.push(hold);
    if (answer.status === 202) this.#follows.push(this.#untilEnded(hold));
  }

  async #untilEnded(hold: Hold): Promise<void> {
    const seen = await follow(this.#calls, NAME, this.#account, hold.answer.json.id);
    hold.ended = seen.return;
  }

  async #read(): Promise<void> {
    const read = await this.#calls.send(NAME, { path: '/v1/balance', headers: this.#account.headers });
    if (read.status === 200) this.#reads.push(read);
  }

  /** Whether a call without an answer acted is read from the lists. */
  async history(): Promise<History> {
    const { headers, id } = this.#account;
    const jobs = await this.#calls.list(NAME, '/v1/jobs', headers);
    const entries = await this.#calls.list(NAME, '/v1/ledger', headers);
    const costs = new Map<string, number>(jobs.map((job) => [job.metadata?.tag, Math.round(job.cost * MILLI)]));
    const notes = new Set(entries.map(({ note }) => note));
    return {
      name: id,
      start: { amount: CREDITS * MILLI },
      operations: [
        ...this.#grants.flatMap((grant) => grantOf(grant, notes.has(grant.tag))),
        ...this.#holds.flatMap((hold) => holdOf(hold, costs.get(hold.tag))),
        ...this.#reads.map(readOf),
      ],
    };
  }
}

function grantOf({ answer, milli, tag }: Grant, isInLedger: boolean): Operation[] {
  const { call, status, json } = answer;
  const add = { amount: milli };
  const label = `${tag} adds ${milli}: ${status}`;
  if (status !== 201) return isInLedger ? [{ label, call, return: NEVER, outcomes: [{ add }] }] : [];
  const amount = Math.round(json.balance.amount * MILLI) - milli;
  const held = Math.round(json.balance.held * MILLI);
  const outcomes = isInLedger ? [{ when: { amount: exactly(amount), held: exactly(held) }, add }] : [];
  return [{ label, call, return: answer.return, outcomes }];
}

/** The hold, and the end of the job. @param cost  undefined when the list has no such job */
function holdOf({ answer, milli, tag, ended }: Hold, cost: number | undefined): Operation[] {
  const { call, status } = answer;
  const label = `${tag} holds ${milli}: ${status}`;
  if (status === 402) {
    const outcomes = cost === undefined ? [{ when: { amount: [-ANY, milli - 1] as const } }] : [];
    return [{ label, call, return: answer.return, outcomes }];
  }
  if (cost === undefined) return status === 202 ? [{ label, call, return: answer.return, outcomes: [] }] : [];
  const taken = { when: { amount: [milli, ANY] as const }, add: { amount: -milli, held: milli, [tag]: 1 } };
  const given = { when: { [tag]: exactly(1) }, add: { amount: milli - cost, held: -milli, [tag]: 1 } };
  return [
    { label, call, return: status === 202 ? answer.return : NEVER, outcomes: [taken] },
    { label: `${tag} ends at ${cost}`, call, return: ended, outcomes: [given] },
  ];
}

function readOf({ call, return: ended, json }: Call): Operation {
  const [amount, held] = [Math.round(json.amount * MILLI), Math.round(json.held * MILLI)];
  const when = { amount: exactly(amount), held: exactly(held) };
  return { label: `reads ${amount}, held ${held}`, call, return: ended, outcomes: [{ when }] };
}

export const BALANCE = ordered(NAME, 1, async (calls) => new Purse(calls, await calls.account(NAME, CREDITS)));
