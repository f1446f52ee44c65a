import { setTimeout as pause } from 'node:timers/promises';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import type { Receiver } from '../fixtures/webhooks/receiver.ts';
import type { ServiceUnderLoad } from './service-under-load.ts';

export type Account = { id: string; key: string; webhookSecret: string };

/** Clients that upload without pause and keep the answers. */
export type Clients = {
  /** Jobs that were answered 202: the service must not lose them. */
  accepted: Map<string, Account>;
  /** The number of answers by status; 0 stands for a broken connection. */
  answers: Map<number, number>;
  /** Duration in ms and Retry-After of each answer 503. */
  refusals: { ms: number; retryAfter: string | null }[];
  stop(): Promise<void>;
};

/** The answers that clients got during a fault. */
export type ClientResults = {
  accepted: number;
  answers: Record<string, number>;
  refused: number;
  slowestRefusalMs: number;
  refusedWithoutRetryAfter: number;
};

export function resultsOf({ accepted, answers, refusals }: Clients): ClientResults {
  return {
    accepted: accepted.size,
    answers: Object.fromEntries(answers),
    refused: refusals.length,
    slowestRefusalMs: Math.round(Math.max(0, ...refusals.map(({ ms }) => ms))),
    refusedWithoutRetryAfter: refusals.filter(({ retryAfter }) => !/^[1-9]\d*$/.test(retryAfter ?? '')).length,
  };
}

const REQUEST_TIMEOUT_MS = 30_000;
const PAUSE_MS = 50;
const WORDS = ['ab', 'so it', 'cab'];

/** An account with credits and a webhook at the receiver. */
export async function openAccount(service: ServiceUnderLoad, receiver: Receiver): Promise<Account> {
  const admin = { authorization: `Bearer ${service.adminToken}` };
  const { id } = await post(service, '/admin/v1/accounts', admin, { name: 'load', plan: 'pro', credits: 10_000 });
  const { key } = await post(service, `/admin/v1/accounts/${id}/keys`, admin, {});
  const events = ['transcription.completed', 'transcription.failed'];
  const webhook = await post(service, '/v1/webhooks', { 'x-api-key': key! }, { url: receiver.url, events });
  return { id: id!, key: key!, webhookSecret: webhook['secret']! };
}

async function post(service: ServiceUnderLoad, route: string, headers: Record<string, string>, body: unknown) {
  const answer = await fetch(service.baseUrl + route, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (answer.status !== 201) throw new Error(`${route} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

/**
 * @param mostOpen  uploads pause while more jobs than this were accepted and `ended` has not counted them
 */
export function startClients(
  service: ServiceUnderLoad,
  accounts: Account[],
  { mostOpen, ended }: { mostOpen: number; ended: () => number },
): Clients {
  const accepted = new Map<string, Account>();
  const answers = new Map<number, number>();
  const refusals: Clients['refusals'] = [];
  const stopping = new AbortController();

  async function upload(account: Account, turn: number): Promise<void> {
    const form = new FormData();
    form.append('async', 'true');
    form.append('metadata', JSON.stringify({ turn }));
    form.append('file', new Blob([new Uint8Array(toneWav(WORDS[turn % WORDS.length]!))]), 'tone.wav');
    const startedAtMs = performance.now();
    const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
      method: 'POST',
      headers: { 'x-api-key': account.key },
      body: form,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const body = (await answer.json()) as { id: string };
    answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
    if (answer.status === 202) accepted.set(body.id, account);
    else await pause(PAUSE_MS);
    if (answer.status === 503) {
      refusals.push({ ms: performance.now() - startedAtMs, retryAfter: answer.headers.get('retry-after') });
    }
  }

  async function work(account: Account): Promise<void> {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      if (accepted.size - ended() > mostOpen) {
        await pause(PAUSE_MS);
        continue;
      }
      await upload(account, turn).catch(async () => {
        answers.set(0, (answers.get(0) ?? 0) + 1);
        await pause(PAUSE_MS);
      });
    }
  }

  const working = accounts.map(work);
  return {
    accepted,
    answers,
    refusals,
    async stop() {
      stopping.abort();
      await Promise.all(working);
    },
  };
}
