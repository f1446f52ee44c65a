import type { Balance, Page, Plan } from '../../sdk/src/wire.ts';
import { get, send } from '../api.ts';
import type { View } from '../app.ts';
import { action, form, nothing, pager, reload, secretBox } from '../controls.ts';
import { facts, field, fill, h, say, select, table, time } from '../dom.ts';
import { credits, withQuery } from '../format.ts';

type Account = { id: string; name: string; plan: Plan; balance: Balance; created_at: string };
type Key = { id: string; name: string | null; prefix: string; created_at: string };

const PLANS: [string, string][] = [
  ['lite', 'lite'],
  ['pro', 'pro'],
];

/** All accounts, and a form to create one. */
export const showAccounts: View = async (main, { query }) => {
  const accounts = await get<Page<Account>>(withQuery('/admin/v1/accounts', query));
  const rows = accounts.data.map((account) => [
    h('a', { href: `#/operator/${account.id}` }, account.name),
    account.plan,
    amountOf(account),
    time(account.created_at),
  ]);
  const fields = [
    field('Name', h('input', { name: 'name', required: true, maxlength: 200 })),
    h(
      'div',
      { class: 'columns' },
      field('Plan', select('plan', PLANS)),
      field('Credits', h('input', { name: 'credits', type: 'number', min: 0, step: 'any' }), 'Empty: unlimited.'),
    ),
  ];
  const submit = async (given: FormData) => {
    const amount = String(given.get('credits'));
    const body = { name: given.get('name'), plan: given.get('plan'), credits: amount === '' ? null : Number(amount) };
    location.hash = `#/operator/${(await send<Account>('POST', '/admin/v1/accounts', body)).id}`;
  };
  fill(
    main,
    h('h1', {}, 'Accounts'),
    rows.length === 0 ? nothing('No accounts yet.') : table('Accounts', ['Name', 'Plan', 'Balance', 'Created'], rows),
    pager('#/operator', query, accounts.next_cursor),
    h('section', { class: 'card' }, h('h2', {}, 'New account'), form('New account', fields, 'Create', submit)),
  );
};

/** One account: its balance, its keys, and forms to change it. */
export const showAccount: View = async (main, { parts, query }) => {
  const path = `/admin/v1/accounts/${encodeURIComponent(parts[1]!)}`;
  const [account, keys] = await Promise.all([get<Account>(path), get<Page<Key>>(withQuery(`${path}/keys`, query))]);
  fill(
    main,
    h('p', { class: 'crumbs' }, h('a', { href: '#/operator' }, 'Accounts')),
    h('h1', {}, account.name),
    h(
      'section',
      { class: 'card figures' },
      facts(
        ['Balance', amountOf(account)],
        ['Set aside', `${credits(account.balance.held)} credits`],
        ['Plan', account.plan],
        ['Id', h('code', {}, account.id)],
        ['Created', time(account.created_at)],
      ),
    ),
    keysOf(path, parts[1]!, keys, query),
    h('section', { class: 'card' }, changeForms(path, account)),
  );
};

function amountOf({ balance }: Account): string {
  return balance.amount === null ? 'unlimited' : `${credits(balance.amount)} credits`;
}

function keysOf(path: string, id: string, keys: Page<Key>, query: Record<string, string>) {
  const made = h('div', { 'aria-live': 'polite' });
  const revoke = (key: Key) => () => send('DELETE', `/admin/v1/keys/${key.id}`).then(reload);
  const rowOf = (key: Key) => [
    h('code', {}, `${key.prefix}…`),
    key.name ?? '–',
    time(key.created_at),
    action('Revoke', revoke(key), { confirm: 'Revoke at once?', class: 'danger' }),
  ];
  const heads = ['Key', 'Name', 'Created', ''];
  const listOf = ({ data }: Page<Key>) =>
    data.length === 0 ? nothing('No keys yet.') : table('Keys', heads, data.map(rowOf));
  const list = h('div', {}, listOf(keys));
  const submit = async (given: FormData) => {
    const { key } = await send<{ key: string }>('POST', `${path}/keys`, { name: String(given.get('name')) || null });
    fill(made, secretBox('The new key', key, 'Give it to the account now: it is not shown again.'));
    fill(list, listOf(await get<Page<Key>>(`${path}/keys`)));
  };
  const name = field('Name', h('input', { name: 'name', maxlength: 200, placeholder: 'production' }));
  return h(
    'section',
    { class: 'card' },
    h('h2', {}, 'Keys'),
    list,
    pager(`#/operator/${id}`, query, keys.next_cursor),
    made,
    form('New key', [name], 'Make a key', submit),
  );
}

function changeForms(path: string, account: Account) {
  const change = async (given: FormData) => {
    await send('PATCH', path, { name: given.get('name'), plan: given.get('plan') });
    say('Saved.');
    reload();
  };
  const credit = async (given: FormData) => {
    await send('POST', `${path}/credits`, {
      amount: Number(given.get('amount')),
      note: String(given.get('note')) || null,
    });
    say('The credits were booked.');
    reload();
  };
  const amount = h('input', { name: 'amount', type: 'number', step: 'any', required: true });
  const changeFields = [
    field('Name', h('input', { name: 'name', required: true, maxlength: 200, value: account.name })),
    field('Plan', select('plan', PLANS, account.plan)),
  ];
  const creditFields = [
    field('Amount', amount, 'Below zero to take away.'),
    field('Note', h('input', { name: 'note', maxlength: 500 })),
  ];
  return [
    account.balance.unlimited ||
      h('details', { open: true }, h('summary', {}, 'Add credits'), form('Add credits', creditFields, 'Book', credit)),
    h('details', {}, h('summary', {}, 'Change'), form('Change the account', changeFields, 'Save', change)),
  ].filter((part) => part !== true);
}
