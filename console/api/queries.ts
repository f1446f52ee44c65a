import { queryOptions, useQuery } from '@tanstack/react-query';
import type { OwnAccount } from '#sdk/wire.ts';
import { hasUser, session } from '../session/session.ts';
import { useStore } from '../session/store.ts';
import { api } from './client.ts';
import { people } from './people.ts';

// Queries that several views use: a key that is written in one place cannot stand for other data elsewhere.

const ACCOUNT_STALE_MS = 300_000;
const MODELS_STALE_MS = 60_000;
// A plan allows few webhooks: one page holds them.
const MAX_WEBHOOKS = 100;

/** All webhooks of the account. */
export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: async ({ signal }) => await api.webhooks.list({ limit: MAX_WEBHOOKS }, { signal }),
});

/** One webhook, without its secret. */
export const webhookQuery = (id: string) =>
  queryOptions({ queryKey: ['webhook', id], queryFn: ({ signal }) => api.webhooks.get(id, { signal }) });

/** An entry of the delivery log with its request and answer. */
export const deliveryQuery = (webhookId: string, id: string) =>
  queryOptions({
    queryKey: ['delivery', webhookId, id],
    queryFn: ({ signal }) => api.webhooks.delivery(webhookId, id, { signal }),
  });

/** The account that is signed in: plan, limits, and what the session may do. */
export function useAccount() {
  const { account } = useStore(session);
  return useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => api.account({ signal }),
    enabled: account !== null,
    staleTime: ACCOUNT_STALE_MS,
  });
}

/** Whether the session has a scope; false until that is known. */
export function useMay(scope: OwnAccount['scopes'][number]): boolean {
  return useAccount().data?.scopes.includes(scope) ?? false;
}

/** What the engine of a plan can do; undefined until that is known. @param chosen  absent: the plan of the account */
export function usePlanModel(chosen?: string) {
  const own = useAccount().data?.plan;
  const plan = chosen || own;
  const { data } = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => api.models.list({ signal }),
    staleTime: MODELS_STALE_MS,
  });
  return data?.find(({ id }) => id === plan);
}

/** The user who is signed in; not for the session of a key. */
export function useMe() {
  const isUser = hasUser(useStore(session));
  return useQuery({ queryKey: ['me'], queryFn: people.me, enabled: isUser, staleTime: ACCOUNT_STALE_MS });
}

/** Needs the scope usage:read. @param isOn  false: nothing is requested */
export function useBalance(isOn = true) {
  return useQuery({ queryKey: ['balance'], queryFn: ({ signal }) => api.balance({ signal }), enabled: isOn });
}
