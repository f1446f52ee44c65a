import type { CSSProperties } from 'react';
import type { Delivery } from '#sdk/api.ts';
import { Time } from '../../ui/time.tsx';
import { answerOf, attemptHref } from '../attempt-table.tsx';
import { type AxisMark, offsetText, placeOnAxis } from './axis.ts';

/**
 * The attempts of an event at one webhook on a time axis, each a link: what came back, and when.
 * @param attempts  oldest first
 * @param shownId   of the attempt whose page this is
 */
export function RetryTimeline({ attempts, shownId }: { attempts: readonly Delivery[]; shownId?: string }) {
  return (
    <ol className="retries">
      {placeOnAxis(attempts).map((mark) => (
        <li
          key={mark.attempt.id}
          className={mark.attempt.status}
          style={{ '--gap': mark.gap.toFixed(2) } as CSSProperties}
        >
          <a href={attemptHref(mark.attempt)} aria-current={mark.attempt.id === shownId ? 'page' : undefined}>
            <span className="hidden">Attempt {mark.attempt.attempt}: </span>
            <span className="outcome">{outcomeOf(mark.attempt)}</span>
            <small>
              <When mark={mark} />
            </small>
          </a>
        </li>
      ))}
    </ol>
  );
}

function outcomeOf(attempt: Delivery): string {
  if (attempt.status === 'pending') return attempt.attempt === 1 ? 'waiting' : 'retry';
  return attempt.status === 'dropped' ? 'dropped' : answerOf(attempt);
}

function When({ mark: { attempt, at, afterMs } }: { mark: AxisMark }) {
  if (attempt.status === 'pending') {
    return at && Date.parse(at) > Date.now() ? <Time at={at} /> : 'due now';
  }
  if (at === null) return 'not sent';
  return afterMs === null ? <Time at={at} /> : <span title={at}>{offsetText(afterMs)}</span>;
}
