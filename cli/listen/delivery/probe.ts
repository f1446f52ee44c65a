import net from 'node:net';
import type { Clock } from '#sdk/client/index.ts';

/** Resolves to whether something accepts connections on the URL's host and port. */
export type Probe = (url: URL, signal: AbortSignal) => Promise<boolean>;

const EVERY_MS = 15_000;
const WAIT_MS = 2_000;

/** Tries to connect, for at most 2 s. */
export const probe: Probe = (url, signal) => {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const cut = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
    const socket = net.connect({ host, port });
    const end = (isUp: boolean) => {
      cut.removeEventListener('abort', onCut);
      socket.destroy();
      resolve(isUp);
    };
    const onCut = () => end(false);
    cut.addEventListener('abort', onCut);
    socket.once('connect', () => end(true)).on('error', () => end(false));
    if (cut.aborted) onCut();
  });
};

/**
 * Looks at each host at once and then every 15 s, until the signal aborts, and reports each change; at first only a
 * host on which nothing listens. `first` resolves after the first look.
 */
export function watchTargets(
  hosts: readonly URL[],
  {
    clock,
    signal,
    probe,
    onChange,
  }: { clock: Clock; signal: AbortSignal; probe: Probe; onChange(host: URL, isUp: boolean): void },
): { first: Promise<void> } {
  const known = new Map(hosts.map((host) => [host, true]));
  const look = async (host: URL) => {
    const isUp = await probe(host, signal);
    if (signal.aborted || known.get(host) === isUp) return;
    known.set(host, isUp);
    onChange(host, isUp);
  };
  const first = Promise.all(hosts.map(look)).then(() => undefined);
  void first.then(async () => {
    while (hosts.length > 0 && !signal.aborted) {
      await clock.sleep(EVERY_MS, signal);
      if (!signal.aborted) await Promise.all(hosts.map(look));
    }
  });
  return { first };
}
