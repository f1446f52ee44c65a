import { useAccount } from '../api/queries.ts';

/** Whether the key may change webhooks and send events again; false until that is known. */
export function useMayWrite(): boolean {
  const { data: account } = useAccount();
  return account?.scopes.includes('webhooks:write') ?? false;
}
