import { useQuery } from '@tanstack/react-query';
import { session } from '../session/session.ts';
import { useStore } from '../session/store.ts';
import { api } from './client.ts';

// Queries that several views use. The names of their keys: `account`, `balance`.

const ACCOUNT_STALE_MS = 300_000;

/** The account of the key: plan, limits, and what the key may do. */
export function useAccount() {
  const { key } = useStore(session);
  return useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => api.account({ signal }),
    enabled: key !== null,
    staleTime: ACCOUNT_STALE_MS,
  });
}

/** Needs the scope usage:read. @param isOn  false: nothing is requested */
export function useBalance(isOn = true) {
  return useQuery({ queryKey: ['balance'], queryFn: ({ signal }) => api.balance({ signal }), enabled: isOn });
}
