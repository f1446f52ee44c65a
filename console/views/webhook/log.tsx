import type { Delivery, Webhook } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { useFilters } from '../../app/filters.tsx';
import { AttemptTable } from '../../deliveries/attempt-table.tsx';
import { LogFilters } from '../../deliveries/log-filters.tsx';
import { isListed, logQuery } from '../../deliveries/log-query.ts';
import { useMayWrite } from '../../deliveries/use-may-write.ts';
import { ConfirmButton } from '../../ui/action-button.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { MoreRows, NewRows, type Selection, useSelection } from '../../ui/table/table.tsx';
import { say } from '../../ui/toast.tsx';

// What one request to send again takes.
const MAX_REDELIVERED = 100;
const PAGE = 50;

/** The delivery log of the webhook with its filters, and sending several entries again. */
export function Log({ webhook }: { webhook: Webhook }) {
  const query = logQuery(useFilters()[0]);
  const selection = useSelection();
  const mayWrite = useMayWrite();
  const list = useLiveList<Delivery>({
    key: ['deliveries', webhook.id, query],
    read: (cursor) =>
      api.webhooks.deliveries(webhook.id, { ...query, limit: PAGE, ...(cursor && { cursor }) } as object),
    changed: (frame) => (frame.type === 'delivery' && frame.data.webhook_id === webhook.id ? frame.data : null),
    isListed: (entry) => isListed(entry, query),
  });
  const path = `/v1/webhooks/${webhook.id}/deliveries`;
  return (
    <>
      <LogFilters />
      <div className="list-actions">
        {mayWrite && <Redeliver webhook={webhook} rows={list.items} selection={selection} />}
        <AsCode request={{ method: 'GET', path, query }} />
      </div>
      <NewRows list={list} />
      <Query of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              title={Object.keys(query).length > 0 ? 'No deliveries match these filters.' : 'No deliveries yet.'}
            />
          ) : (
            <AttemptTable label="Deliveries" rows={rows} {...(mayWrite && { selection })} />
          )
        }
      </Query>
      <MoreRows list={list} />
    </>
  );
}

/**
 * Sends the events of the chosen entries again. Entries of the same event send it once:
 * the question has the number of events.
 */
function Redeliver({ webhook, rows, selection }: { webhook: Webhook; rows: Delivery[]; selection: Selection }) {
  const chosen = rows.filter(({ id }) => selection.has(id));
  const events = new Set(chosen.map(({ event_id }) => event_id)).size;
  const send = async () => {
    const ids = chosen.map(({ id }) => id);
    const { events: sent } = await api.webhooks.redeliverMany(webhook.id, ids);
    selection.set([]);
    say(`${countOf(sent)} sent again.`);
  };
  const isTooMany = chosen.length > MAX_REDELIVERED;
  return (
    <>
      <ConfirmButton
        look="plain"
        title={`Send ${countOf(events)} again?`}
        confirm="Send again"
        text={`${chosen.length} chosen deliveries belong to ${countOf(events)}. Each event is sent once, from attempt 1, with new delivery ids.`}
        act={send}
        disabled={chosen.length === 0 || isTooMany || !webhook.active}
      >
        Send {chosen.length > 0 ? `${chosen.length} ` : ''}again
      </ConfirmButton>
      {isTooMany && (
        <span className="hint">At most {MAX_REDELIVERED} at once. Recover sends all events of a period.</span>
      )}
      {!webhook.active && <span className="hint">Enable the webhook first.</span>}
    </>
  );
}

function countOf(events: number): string {
  return events === 1 ? '1 event' : `${events} events`;
}
