import type { Delivery } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { useFilters } from '../../app/filters.tsx';
import { LogFilters } from '../../deliveries/log-filters.tsx';
import { isListed, logQuery } from '../../deliveries/log-query.ts';
import { EventGroups } from '../../deliveries/timeline/event-groups.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { MoreRows, NewRows } from '../../ui/table/table.tsx';

const PAGE = 50;

/** The delivery log over all webhooks, by event. */
export default function DeliveriesView() {
  const query = logQuery(useFilters()[0]);
  const list = useLiveList<Delivery>({
    key: ['deliveries', 'all', query],
    read: (cursor) => api.deliveries.list({ ...query, limit: PAGE, ...(cursor && { cursor }) } as object),
    changed: (frame) => (frame.type === 'delivery' ? frame.data : null),
    isListed: (entry) => isListed(entry, query),
  });
  return (
    <Page
      title="Deliveries"
      actions={<AsCode request={{ method: 'GET', path: '/v1/deliveries', query, sdk: 'client.deliveries.list' }} />}
    >
      <LogFilters />
      <NewRows list={list} />
      <Query of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <NoDeliveries isFiltered={Object.keys(query).length > 0} />
          ) : (
            <EventGroups entries={rows} />
          )
        }
      </Query>
      <MoreRows list={list} />
    </Page>
  );
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No deliveries match these filters." />;
  return (
    <Empty title="No deliveries yet.">
      <p>
        Add a <a href="#/webhooks">webhook</a>: each event that is sent to it is listed here, with its retries.
      </p>
    </Empty>
  );
}
