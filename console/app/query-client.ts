import { QueryCache, QueryClient } from '@tanstack/react-query';
import { isSignedOut, isUnreachable, isWorthRetry } from '../api/problem.ts';
import { signOut } from '../session/session.ts';
import { openStore } from '../session/store.ts';
import { say } from '../ui/toast.tsx';

const MAX_RETRIES = 2;
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
  say(isOperator ? "The operator's token is no longer valid." : 'The key was revoked, or it has expired.');
  signOut(isOperator ? 'admin' : 'key');
}
