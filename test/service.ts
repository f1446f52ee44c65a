import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { DemoService } from '../src/demo/service.ts';
import { freePort, startService } from '../src/demo/service.ts';

export type ServiceAccount = { id: string; key: string };

export type TestService = DemoService &
  AsyncDisposable & {
    dataDir: string;
    readyMs: number;
    account(options?: { plan?: 'lite' | 'pro'; credits?: number | null }): Promise<ServiceAccount>;
    /** Everything that the service has logged. */
    logText(): string;
    /** kill -9 of the parent alone: its children and PostgreSQL must follow by themselves. */
    crash(): Promise<void>;
  };

/** A service of its own in a temporary data directory; stopped, and the directory removed, when disposed. */
export async function openService(env: Record<string, string> = {}, dataDir = temporaryFolder()): Promise<TestService> {
  const port = await freePort(0);
  const startedAtMs = performance.now();
  const service = await startService({ dataDir, port, env: { ...env } });
  return {
    ...service,
    dataDir,
    readyMs: performance.now() - startedAtMs,
    account: (options = {}) => makeAccount(service, options),
    logText: () => readFileSync(path.join(dataDir, 'service.log'), 'utf8'),
    async crash() {
      process.kill(service.pid, 'SIGKILL');
      await service.ended;
    },
    async [Symbol.asyncDispose]() {
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export function temporaryFolder(): string {
  return mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
}

async function makeAccount(
  service: DemoService,
  { plan = 'pro', credits = null }: { plan?: 'lite' | 'pro'; credits?: number | null },
): Promise<ServiceAccount> {
  const headers = { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/json' };
  const post = async (route: string, body: unknown) => {
    const answer = await fetch(service.baseUrl + route, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`${route} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const account = await post('/admin/v1/accounts', { name: 'test', plan, credits });
  const { key } = await post(`/admin/v1/accounts/${account['id']}/keys`, {});
  return { id: account['id']!, key: key! };
}
