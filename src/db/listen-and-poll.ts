import type { Clock } from '../platform/clock.ts';
import type { Database } from './database.ts';

export type PolledChannel = {
  name: string;
  /** Called for each NOTIFY, and once with '' after each time in which notifications may have been lost. */
  onNotify: (payload: string) => void;
  /** Finds what a lost notification would have announced. */
  poll: () => Promise<void>;
  everyMs: number;
  /** Called when a poll rejects; the next one follows as usual. */
  onError: (cause: unknown) => void;
};

/** Listens on a channel and polls beside it until closed. A poll that has begun ends before `close` resolves. */
export async function listenAndPoll(
  { db, clock }: { db: Database; clock: Clock },
  { name, onNotify, poll, everyMs, onError }: PolledChannel,
): Promise<{ close(): Promise<void> }> {
  const closing = new AbortController();
  const stopListening = await db.listen(name, onNotify);

  async function pollUntilClosed(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(everyMs, closing.signal);
      if (!closing.signal.aborted) await poll().catch(onError);
    }
  }

  const polling = pollUntilClosed();
  return {
    async close() {
      closing.abort();
      await Promise.all([stopListening(), polling]);
    },
  };
}
