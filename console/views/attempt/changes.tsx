import { useQuery } from '@tanstack/react-query';
import type { Delivery, DeliveryWithExchange } from '#sdk/api.ts';
import { deliveryQuery } from '../../api/queries.ts';
import { Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { differencesOf } from './differences.ts';

/** What differs from the attempt made before; nothing for the first one and for one that waits. */
export function Changes({
  attempt,
  attempts,
  headerPrefix,
}: {
  attempt: DeliveryWithExchange;
  attempts: Delivery[];
  headerPrefix: string;
}) {
  const isMade = attempt.status === 'succeeded' || attempt.status === 'failed';
  const beforeId = isMade ? findMadeBefore(attempts, attempt.id) : null;
  const before = useQuery({ ...deliveryQuery(attempt.webhook_id, beforeId ?? ''), enabled: beforeId !== null });
  if (beforeId === null) return null;
  return (
    <Section title="What changed since the previous attempt">
      <Query of={before}>
        {(earlier) => <DifferenceTable before={earlier} after={attempt} prefix={headerPrefix} />}
      </Query>
    </Section>
  );
}

/** Attempts that wait or were dropped have nothing to compare with. */
function findMadeBefore(attempts: Delivery[], id: string): string | null {
  const earlier = attempts.slice(
    0,
    Math.max(
      0,
      attempts.findIndex((each) => each.id === id),
    ),
  );
  return earlier.findLast(({ status }) => status === 'succeeded' || status === 'failed')?.id ?? null;
}

function DifferenceTable({
  before,
  after,
  prefix,
}: {
  before: DeliveryWithExchange;
  after: DeliveryWithExchange;
  prefix: string;
}) {
  const differences = differencesOf(before, after, prefix);
  if (differences.length === 0) return <p>Only the signature, the times and the ids: they are new for each attempt.</p>;
  return (
    <table>
      <caption className="hidden">Differences from the previous attempt</caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Before</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ what, before, after }) => (
          <tr key={what}>
            <td data-head="What">{what}</td>
            <td data-head="Before">{before ?? '–'}</td>
            <td data-head="Now">{after ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
