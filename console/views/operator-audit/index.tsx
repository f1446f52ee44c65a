import type { AuditEntry } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { FilterSelect, Filters, FilterText, useFilters } from '../../app/filters.tsx';
import { AccountLink } from '../../operator/account-link.tsx';
import { ListRows } from '../../parts/list-rows.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

const PAGE = 50;
const ACTIONS: AuditEntry['action'][] = [
  ...(['account.created', 'account.changed', 'account.suspended', 'account.resumed', 'account.deleted'] as const),
  ...(['credits.added', 'key.created', 'key.deleted', 'session.created', 'session.ended', 'sign_in.failed'] as const),
  ...(['user.joined', 'user.changed', 'user.deleted', 'invitation.created', 'invitation.deleted'] as const),
  ...(['webhook.created', 'webhook.changed', 'webhook.deleted', 'webhook.secret_rotated', 'secrets.rotated'] as const),
  ...(['share.created', 'share.deleted', 'job.deleted', 'transcript.edited', 'jobs.retried'] as const),
];

const COLUMNS: Column<AuditEntry>[] = [
  { head: 'Time', width: 7.5, phone: 'side', cell: ({ created_at }) => <Time at={created_at} /> },
  { head: 'Action', width: 10.5, cell: ({ action }) => <span className="whole">{action}</span> },
  {
    head: 'Who',
    cell: (entry) => <Who entry={entry} />,
  },
  {
    head: 'Account',
    width: 9,
    cell: ({ account_id }) => (account_id === '' ? 'all' : <AccountLink id={account_id} />),
  },
  {
    head: 'What',
    wraps: true,
    cell: (entry) => (
      <span title={`Request ${entry.request_id}`}>
        <Target entry={entry} /> <small>{textOf(entry.details)}</small>
      </span>
    ),
  },
];

/** What operators and keys changed. */
export default function AuditView() {
  const [{ action = '', account_id = '' }] = useFilters();
  const query: object = { limit: PAGE, ...(action && { action }), ...(account_id && { account_id }) };
  const list = useLiveList<AuditEntry>({
    key: ['operator', 'audit', action, account_id],
    read: (cursor) => operator.audit({ ...query, ...(cursor && { cursor }) }),
  });
  return (
    <Page title="Audit log">
      <Filters>
        <FilterSelect name="action" label="Action" values={ACTIONS} />
        <FilterText name="account_id" label="Account" placeholder="acct_…" />
      </Filters>
      <ListRows
        list={list}
        label="Changes"
        columns={COLUMNS}
        empty={<Empty title={action || account_id ? 'No changes match these filters.' : 'No changes yet.'} />}
      />
    </Page>
  );
}

/** What was changed: `plan pro, credits 5000`; nothing of what is empty. */
function textOf(details: AuditEntry['details']): string {
  const given = Object.entries(details).filter(([, value]) => value !== null && String(value) !== '');
  const parts = given.map(([name, value]) => {
    const shown = Array.isArray(value) ? value.join(' ') : typeof value === 'string' ? value : JSON.stringify(value);
    return `${name.replaceAll('_', ' ')} ${shown}`;
  });
  return parts.join(', ');
}

/** A user or a key; without both, the operator's token. */
function Who({ entry: { actor, address, account_id } }: { entry: AuditEntry }) {
  const id = actor.user_id ?? actor.key_id;
  if (id === null) return <span title={`From ${address}`}>operator</span>;
  return (
    <span title={`${id}, from ${address}`}>
      <Named id={id} name={actor.name} accountId={account_id} />
    </span>
  );
}

function Target({ entry: { target_id: id, target_name, account_id } }: { entry: AuditEntry }) {
  if (id === account_id) return <>the account</>;
  return id.startsWith('acct_') ? <AccountLink id={id} /> : <Named id={id} name={target_name} accountId={account_id} />;
}

/** The name, or the id where there is none; it leads to the page that has what it names. */
function Named({ id, name, accountId }: { id: string; name: string | null; accountId: string }) {
  const shown = name ?? <code>{id}</code>;
  const place = placeOf(id, accountId);
  return place === null ? (
    <span title={id}>{shown}</span>
  ) : (
    <a href={`#/operator/${place}`} title={id}>
      {shown}
    </a>
  );
}

/** Null where the operator has no page of it. */
function placeOf(id: string, accountId: string): string | null {
  if (accountId === '') return null;
  if (id.startsWith('key_')) return `accounts/${accountId}?tab=keys`;
  if (id.startsWith('wh')) return `webhooks?account_id=${accountId}`;
  return id.startsWith('job_') ? `jobs?account_id=${accountId}` : null;
}
