import { useQuery } from '@tanstack/react-query';
import { operator } from '../api/client.ts';

const STALE_MS = 60_000;

/** The name of an account, which leads to its page; its id where there are too many accounts to know all names. */
export function AccountLink({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['operator', 'account-names'],
    queryFn: async ({ signal }) => (await operator.accounts.list({ limit: 100 }, { signal })).data,
    staleTime: STALE_MS,
  });
  const name = data?.find((account) => account.id === id)?.name;
  return (
    <a href={`#/operator/accounts/${id}`} title={id} dir="auto">
      {name ?? <code>{id}</code>}
    </a>
  );
}
