import { QueryCache, QueryClient } from '@tanstack/react-query';
import { isSignedOut, isUnreachable, isWorthRetry } from '../api/problem.ts';
import { findSession } from '../api/sign-in.ts';
import { changeSession, nameOf, session } from '../session/session.ts';
import { openStore } from '../session/store.ts';
import { say } from '../ui/toast.tsx';

const MAX_RETRIES = 2;
const AGAIN_MS = 3_000;
const STALE_MS = 15_000;

/** Whether the last request got no answer. */
export const unreachable = openStore(false);

/**
 * The cache of answers. A first element 'operator' in a query's key says that the query uses the operator's token.
 * Answers are requested again when the tab gets the focus and they are older than 15 s.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      // Requests are made while the browser thinks that it is offline: the service may run on the same machine.
      networkMode: 'always',
      retry: (failures, error) => failures < MAX_RETRIES && isWorthRetry(error),
    },
  },
  queryCache: new QueryCache({
    onSuccess: () => unreachable.set(false),
    onError: (error, query) => onError(error, query.queryKey[0] === 'operator'),
  }),
});

function onError(error: unknown, isOperator: boolean): void {
  unreachable.set(isUnreachable(error));
  if (!isSignedOut(error)) return;
  if (isOperator) {
    say("The operator's token is no longer valid.");
    changeSession({ admin: null });
  } else {
    checking ??= checkSession().finally(() => (checking = null));
  }
}

let checking: Promise<void> | null = null;

/** After a refusal: another tab may have signed out, or in with another key. */
async function checkSession(): Promise<void> {
  const before = session.get().account;
  const found = before?.kind === 'cookie' ? await findSession().catch(() => before) : null;
  if (nameOf(found) === nameOf(before) || session.get().account !== before) return;
  say(found ? 'Another tab has signed in anew.' : 'The session has ended, or its key was revoked.');
  changeSession({ account: found });
}

/**
 * While the service cannot be reached, asks every 3 s whether it answers; then all that the page shows is requested
 * again, also what failed for good meanwhile.
 */
async function waitForService(): Promise<void> {
  if (!unreachable.get()) return;
  const isThere = await fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isThere) return void setTimeout(waitForService, AGAIN_MS);
  unreachable.set(false);
  await queryClient.refetchQueries({ type: 'active' });
}

unreachable.subscribe(() => {
  if (unreachable.get()) setTimeout(waitForService, AGAIN_MS);
});

// Answers of one account are not shown to the next.
session.subscribe(() => queryClient.clear());
