import type { AccountWebhook } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { FilterSelect, Filters, FilterText, useFilters } from '../../app/filters.tsx';
import { WEBHOOK_COLUMNS } from '../../operator/webhook-columns.tsx';
import { ListRows } from '../../parts/list-rows.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';

const PAGE = 50;
const STATES = [
  ['false', 'disabled'],
  ['true', 'active'],
] as const;

/** The webhooks of all accounts, and which of them are disabled. */
export default function OperatorWebhooksView() {
  const [{ active = '', account_id = '' }] = useFilters();
  const query: object = { limit: PAGE, ...(active && { active }), ...(account_id && { account_id }) };
  const list = useLiveList<AccountWebhook>({
    key: ['operator', 'webhooks', active, account_id],
    read: (cursor) => operator.webhooks({ ...query, ...(cursor && { cursor }) }),
  });
  return (
    <Page title="All webhooks">
      <Filters>
        <FilterSelect name="active" label="State" values={STATES} />
        <FilterText name="account_id" label="Account" placeholder="acct_…" />
      </Filters>
      <ListRows
        list={list}
        label="Webhooks"
        columns={WEBHOOK_COLUMNS}
        empty={<Empty title={active || account_id ? 'No webhooks match these filters.' : 'No webhooks yet.'} />}
      />
    </Page>
  );
}
