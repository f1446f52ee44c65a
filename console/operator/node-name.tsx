import { useQuery } from '@tanstack/react-query';
import { operator } from '../api/client.ts';

const STALE_MS = 60_000;

/** The machine of the process that holds a job; the id of the node where it is no longer known. */
export function NodeName({ holder }: { holder: string }) {
  const { data } = useQuery({
    queryKey: ['operator', 'nodes'],
    queryFn: ({ signal }) => operator.nodes({ signal }),
    staleTime: STALE_MS,
  });
  const id = holder.replace(/\/.*/, '');
  const host = data?.find((node) => node.id === id)?.host;
  return <span title={holder}>{host ?? <code>{id}</code>}</span>;
}
