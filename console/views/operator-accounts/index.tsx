import { useState } from 'react';
import type { Account } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { Filters, FilterText, useFilters } from '../../app/filters.tsx';
import { numberOf, RequestForm } from '../../forms/request-form.tsx';
import { ListRows } from '../../parts/list-rows.tsx';
import { navigate } from '../../router/address.ts';
import { Button } from '../../ui/button.tsx';
import { Credits } from '../../ui/credits.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

const PAGE = 50;
const PLANS = [
  ['lite', 'lite'],
  ['pro', 'pro'],
] as const;

const COLUMNS: Column<Account>[] = [
  { head: 'Name', cell: ({ id, name }) => <a href={`#/operator/accounts/${id}`}>{name}</a> },
  { head: 'Plan', width: 5, phone: 'side', cell: ({ plan }) => plan },
  {
    head: 'Credits',
    width: 8,
    cell: ({ balance }) => (balance.amount === null ? 'unlimited' : <Credits of={balance.amount} />),
    isNumber: true,
  },
  { head: 'Id', width: 19, phone: 'hidden', cell: ({ id }) => <code>{id}</code> },
  { head: 'Created', width: 8, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** All accounts, with a search. */
export default function AccountsView() {
  const [{ query = '' }] = useFilters();
  const list = useLiveList<Account>({
    key: ['operator', 'accounts', query],
    read: (cursor) => operator.accounts.list({ limit: PAGE, ...(query && { query }), ...(cursor && { cursor }) }),
  });
  return (
    <Page title="Accounts" actions={<NewAccount />}>
      <Filters>
        <FilterText name="query" label="Search" placeholder="Name or id" />
      </Filters>
      <ListRows
        list={list}
        label="Accounts"
        columns={COLUMNS}
        empty={
          <Empty
            title={query ? 'No account has this name or id' : 'No accounts yet'}
            command={query ? undefined : 'accounts create --name Acme --plan pro'}
          />
        }
      />
    </Page>
  );
}

function NewAccount() {
  const [isOpen, setOpen] = useState(false);
  const create = async (given: FormData) => {
    const plan = given.get('plan') === 'lite' ? 'lite' : 'pro';
    const fields = { name: String(given.get('name')), plan, credits: numberOf(given, 'credits') } as const;
    const { id } = await operator.accounts.create(fields);
    navigate(`/operator/accounts/${id}`);
  };
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        New account
      </Button>
      <Dialog isOpen={isOpen} title="New account" onClose={() => setOpen(false)}>
        <RequestForm label="New account" submitLabel="Create" send={create}>
          <TextField label="Name" name="name" required maxLength={200} />
          <SelectField label="Plan" name="plan" options={PLANS} defaultValue="pro" />
          <TextField label="Credits" name="credits" type="number" min={0} step="any" hint="Empty: unlimited." />
        </RequestForm>
      </Dialog>
    </>
  );
}
