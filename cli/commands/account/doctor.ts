import type { Command } from 'commander';
import type { Verbatim } from '#sdk/client/index.ts';
import type { OwnAccount, Webhook } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { CommandError, EXIT } from '../../exit.ts';
import { describeFailure } from '../../failure.ts';
import { findConnection } from '../../profile/connection.ts';
import { credits, state } from '../../terminal/format.ts';
import { typed } from '../../typed.ts';

/** One thing that was looked at, and what to do about it. */
type Finding = { result: 'ok' | 'warn' | 'fail'; message: string; fix?: string };

const TIMEOUT_MS = 10_000;
// Receivers refuse signatures that are five minutes away from their clock.
const MAX_CLOCK_DIFFERENCE_S = 30;

/** `verbatim doctor` */
export function define(command: Command, io: Io): void {
  command.action(
    action(io, async (session) => {
      const findings = await examine(session);
      const { out } = session;
      if (out.mode === 'json') out.json(findings);
      else
        for (const { result, message, fix } of findings) {
          out.line(state(result), ' '.repeat(6 - result.length), message);
          if (fix !== undefined) out.line('      ', { text: `fix: ${fix}`, style: 'dim' });
        }
      const failed = findings.filter(({ result }) => result === 'fail').length;
      if (failed > 0) throw new CommandError(out.mode === 'text' ? '' : `${failed} checks failed`);
    }),
  );
}

/** The findings in the order in which one depends on the others. */
async function examine(session: Session): Promise<Finding[]> {
  const { io, globals } = session;
  const node: Finding = { result: 'ok', message: `Node ${process.versions.node} on ${process.platform}` };
  let connection: ReturnType<typeof findConnection>;
  try {
    connection = findConnection(io.env, globals);
  } catch (error) {
    return [node, { result: 'fail', message: (error as Error).message }];
  }
  const service = await checkService(connection.url, io);
  const findings = [node, ...service];
  if (service.some(({ result }) => result === 'fail')) return findings;
  if (connection.apiKey === null) {
    const message = `no API key for ${connection.url}`;
    return [...findings, { result: 'fail', message, fix: `${typed(io.env, 'init')}, or set VERBATIM_API_KEY` }];
  }
  return [...findings, ...(await checkAccount(await session.client(), io))];
}

/** Whether the service answers, is ready, and has the time of this machine. */
async function checkService(url: string, { env, signal }: Io): Promise<Finding[]> {
  const cut = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  let answer: Response;
  try {
    answer = await fetch(`${url}/readyz`, { signal: cut, redirect: 'error' });
  } catch (error) {
    signal.throwIfAborted();
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    const message = `nothing answers at ${url}${code ? ` (${code})` : ''}`;
    const fix = `start the service, or give its address: --url, VERBATIM_URL, ${typed(env, 'init')}`;
    return [{ result: 'fail', message, fix }];
  }
  return [await checkReady(url, answer, env), ...checkUrl(url), ...checkClock(answer.headers.get('date'))];
}

async function checkReady(url: string, answer: Response, env: NodeJS.ProcessEnv): Promise<Finding> {
  const text = await answer.text().catch(() => '');
  const { status } = readObject(text) as { status?: unknown };
  if (answer.ok && status === 'ready') return { result: 'ok', message: `service at ${url}, ready` };
  if (status === 'not_ready') {
    return { result: 'warn', message: `${url}/readyz answered ${answer.status}: ${text.slice(0, 500)}` };
  }
  const type = answer.headers.get('content-type') ?? 'no content type';
  const message = `what answers at ${url}/readyz is not the service (${answer.status}, ${type})`;
  const fix = `look at the proxy there, or give the address of the service: --url, VERBATIM_URL, ${typed(env, 'init')}`;
  return { result: 'fail', message, fix };
}

/** Empty for what is no JSON object. */
function readObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function checkUrl(url: string): Finding[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return [];
  return [{ result: 'warn', message: 'the key is sent without TLS', fix: 'use an https URL' }];
}

function checkClock(date: string | null): Finding[] {
  const serviceMs = Date.parse(date ?? '');
  if (Number.isNaN(serviceMs)) return [];
  const differenceS = Math.round((Date.now() - serviceMs) / 1000);
  if (Math.abs(differenceS) <= MAX_CLOCK_DIFFERENCE_S)
    return [{ result: 'ok', message: 'clock as that of the service' }];
  const message = `this clock differs from that of the service by ${differenceS} s: signatures may be refused`;
  return [{ result: 'warn', message, fix: 'synchronise the clock' }];
}

async function checkAccount(client: Verbatim, io: Io): Promise<Finding[]> {
  const { env, signal } = io;
  let account: OwnAccount;
  try {
    account = await client.account();
  } catch (error) {
    signal.throwIfAborted();
    const { message, exitCode } = describeFailure(error, signal);
    return [{ result: 'fail', message, ...(exitCode === EXIT.notSignedIn && { fix: typed(env, 'init') }) }];
  }
  const { name, plan, scopes } = account;
  const key: Finding = { result: 'ok', message: `key of ${name} (${plan}), scopes: ${scopes.join(' ') || 'all'}` };
  return [key, ...(await checkBalance(client, signal)), ...(await checkWebhooks(client, io))];
}

async function checkBalance(client: Verbatim, signal: AbortSignal): Promise<Finding[]> {
  return await unlessForbidden(signal, async () => {
    const { amount, unlimited } = await client.balance();
    if (unlimited) return [{ result: 'ok', message: 'credits: unlimited' }];
    const isEmpty = (amount ?? 0) <= 0;
    return [{ result: isEmpty ? 'warn' : 'ok', message: `credits: ${credits(amount)}` }];
  });
}

async function checkWebhooks(client: Verbatim, { env, signal }: Io): Promise<Finding[]> {
  return await unlessForbidden(signal, async () => {
    const webhooks = await client.webhooks.list({ limit: 100 }).toArray({ limit: 100 });
    if (webhooks.length === 0) return [{ result: 'ok', message: 'no webhooks' }];
    return await Promise.all(webhooks.map((webhook) => checkWebhook(client, webhook, env)));
  });
}

async function checkWebhook(client: Verbatim, webhook: Webhook, env: NodeJS.ProcessEnv): Promise<Finding> {
  const { id, url, active, consecutive_failures: failures, disabled_reason, failing_since: since } = webhook;
  if (active && failures === 0) return { result: 'ok', message: `webhook ${id} to ${url}` };
  const [last] = await client.webhooks.deliveries(id, { status: 'failed', limit: 1 }).toArray({ limit: 1 });
  const reason = last?.error ? ` (${last.error.reason}): ${last.error.message}` : '';
  const recover = typed(env, `webhooks recover ${id} --since ${since ?? '1d'}`);
  if (active)
    return {
      result: 'warn',
      message: `webhook ${id} failed ${failures} times in a row${reason}`,
      fix: `repair the receiver, then: ${recover}`,
    };
  const fix = `${typed(env, `webhooks update ${id} --enable`)}, then: ${recover}`;
  return { result: 'warn', message: `webhook ${id} is disabled (${disabled_reason})${reason}`, fix };
}

/** No findings where the key lacks the scope. */
async function unlessForbidden(signal: AbortSignal, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    signal.throwIfAborted();
    const { status } = error as { status?: number };
    return status === 403 ? [] : [{ result: 'fail', message: describeFailure(error, signal).message }];
  }
}
