import { freePort } from '../../../src/demo/service.ts';
import { openHostileReceiver } from '../../fixtures/webhooks/hostile-receiver.ts';
import { openReceiver } from '../../fixtures/webhooks/receiver.ts';
import { marked } from './markup.ts';

const MARKUP_REPLY = {
  status: 500,
  headers: { 'content-type': 'text/html', 'x-reason': marked('answer header') },
  body: marked('answer body'),
};

/** Receivers that do not accept deliveries, each in one way. */
export type FailingReceivers = AsyncDisposable & {
  ports: number[];
  /** By the reason that the delivery log names. */
  urls: Record<'http_status' | 'markup' | 'redirect' | 'timeout' | 'connect' | 'tls' | 'reset' | 'protocol', string>;
  /** Answers the first request with 500, and all after it with 204. @param name  in the path, of one flow's own */
  flaky(name: string): string;
};

export async function openFailingReceivers(): Promise<FailingReceivers> {
  const seen = new Set<string>();
  const answering = await openReceiver({
    async reply({ path }) {
      if (path === '/slow') return await new Promise(() => undefined);
      if (path === '/moved') return { status: 301, headers: { location: 'https://hooks.example.com/new' } };
      if (path === '/down') return { status: 503, body: 'no server is available' };
      if (path.startsWith('/markup')) return MARKUP_REPLY;
      const isFirst = !seen.has(path);
      seen.add(path);
      return isFirst ? { status: 500, body: 'database is locked' } : { status: 204 };
    },
  });
  const [tls, reset, protocol] = await Promise.all(
    (['selfSigned', 'reset', 'garbage'] as const).map((mode) => openHostileReceiver(mode)),
  );
  const closed = await freePort();
  const at = (path: string) => new URL(path, answering.url).href;
  return {
    ports: [answering.port, closed, tls!.port, reset!.port, protocol!.port],
    urls: {
      http_status: at('/down'),
      markup: at('/markup'),
      redirect: at('/moved'),
      timeout: at('/slow'),
      connect: `https://127.0.0.1:${closed}/hook`,
      tls: tls!.url,
      reset: reset!.url,
      protocol: protocol!.url,
    },
    flaky: (name) => at(`/flaky/${name}`),
    async [Symbol.asyncDispose]() {
      for (const receiver of [answering, tls!, reset!, protocol!]) await receiver[Symbol.asyncDispose]();
    },
  };
}
