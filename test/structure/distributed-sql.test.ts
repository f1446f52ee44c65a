import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOCAL } from '../../src/db/distribute.ts';
import { isSql, isStore, literalsOf, readService, tablesWithShard, withoutComments } from './sources.ts';

/** Tables that are distributed by their shard. The others are local to the coordinator. */
const DISTRIBUTED = tablesWithShard()
  .filter((name) => !LOCAL.includes(name))
  .join('|');

const VOLATILE = /\b(?:clock_timestamp|random|gen_random_uuid)\s*\(/;
const STABLE = /\b(?:now|statement_timestamp|transaction_timestamp)\s*\(/;

/**
 * What Citus 13.2 refuses in a statement on a distributed table, each with an example and the form that it accepts. A
 * part of a statement is the text between the parentheses of one CTE, or the main query.
 */
const REFUSED: { what: string; refused: string; accepted: string; isIn(statement: string): boolean }[] = [
  {
    what: 'merge',
    refused: 'merge into jobs using x on true',
    accepted: 'insert into jobs values ($1) on conflict do nothing',
    isIn: (statement) => /\bmerge into\b/.test(statement),
  },
  {
    what: 'a volatile function in an update or delete',
    refused: 'update jobs set next_at = coalesce($2::timestamptz, clock_timestamp()) where shard = $1',
    accepted:
      'with clock as (select clock_timestamp() as now) update jobs set next_at = (select now from clock) where shard = $1',
    isIn: (statement) => partsOf(statement).some((part) => isChange(part) && VOLATILE.test(withoutSelects(part))),
  },
  {
    what: 'a stable function in coalesce, in an update or delete',
    refused: 'delete from jobs where shard = $1 and next_at < coalesce($2, statement_timestamp())',
    accepted: 'delete from jobs where shard = $1 and next_at < statement_timestamp()',
    isIn: (statement) =>
      partsOf(statement).some(
        (part) => isChange(part) && /\bcoalesce\(/.test(part) && STABLE.test(withoutSelects(part)),
      ),
  },
  {
    what: 'in (select …) in coalesce, in a change of several shards',
    refused: 'delete from jobs where shard = any($1) and coalesce(id in (select id from ended), false)',
    accepted: 'delete from jobs where shard = any($1) and (id in (select id from ended)) is true',
    isIn: (statement) =>
      partsOf(statement).some((part) => isChange(part) && /\bcoalesce\([^()]*\bin \(\s*select\b/.test(part)),
  },
  {
    what: 'an array element that is the whole value of a column, in an update: it crashes the coordinator',
    refused: 'update jobs set name = ($2::text[])[array_position($3::text[], id)] where shard = $1',
    accepted: 'update jobs set name = coalesce(($2::text[])[array_position($3::text[], id)], name) where shard = $1',
    isIn: (statement) =>
      partsOf(statement).some((part) => isChange(part) && /\b[a-z_]+ = \(+(?:\$\d|select\b)[^=]*?\)\[/.test(part)),
  },
  {
    what: 'an interval that depends on a column, in an update',
    refused:
      "update jobs set next_at = $4 + ($2::int[])[array_position($3::text[], id)] * interval '1 second' where shard = $1",
    accepted:
      'update jobs set next_at = coalesce(($2::timestamptz[])[array_position($3::text[], id)], next_at) where shard = $1',
    isIn: (statement) =>
      partsOf(statement).some((part) => isChange(part) && /\[array_position\([^)]*\)\] \* interval\b/.test(part)),
  },
  {
    what: 'a join of deleted rows with unnest: it crashes the coordinator',
    refused:
      'with gone as (delete from jobs where shard = $1 returning id) insert into events select gone.id, w.url from gone join unnest($2::text[], $3::text[]) as w (id, url) on w.id = gone.id',
    accepted:
      'with gone as (delete from jobs where shard = $1 returning id) insert into events select id, ($3::text[])[array_position($2::text[], id)] from gone',
    isIn: (statement) => {
      const deleted = [...statement.matchAll(/\b([a-z_]+) as (?:materialized )?\(\s*delete\b/g)];
      return deleted.some(([, name]) => new RegExp(`\\bfrom ${name}\\b[^()]*\\bjoin unnest\\(`).test(statement));
    },
  },
  {
    what: 'a function or a sub-select in on conflict do update',
    refused: 'insert into jobs values ($1) on conflict (id) do update set next_at = clock_timestamp()',
    accepted: 'insert into jobs values (clock_timestamp()) on conflict (id) do update set next_at = excluded.next_at',
    isIn: (statement) =>
      partsOf(statement).some((part) => {
        const update = part.split(/\bdo update\b/)[1] ?? '';
        return VOLATILE.test(update) || STABLE.test(update) || /\(\s*select\b/.test(update);
      }),
  },
  {
    what: 'pg_notify beside a change of rows',
    refused:
      'with ended as (update jobs set state = $2 where shard = $1 returning id) select id, pg_notify($3, id) from ended',
    accepted: 'select pg_notify($1, $2) from jobs where shard = $3',
    isIn: (statement) => /\bpg_notify\s*\(/.test(statement) && partsOf(statement).some(isChange),
  },
  {
    what: 'a sub-select of a CTE that changes rows, in returning',
    refused:
      'with moved as (update accounts set held = 0 where shard = $1 returning id) insert into ledger select * from moved returning (select id from moved)',
    accepted:
      'with moved as (update accounts set held = 0 where shard = $1 returning id), entry as (insert into ledger select * from moved returning id) select * from entry, moved',
    isIn: (statement) => {
      const changing = [...statement.matchAll(/\b([a-z_]+) as (?:materialized )?\(\s*(?:insert|update|delete)\b/g)];
      const returning = partsOf(statement).map((part) => part.split(/\breturning\b/)[1] ?? '');
      return changing.some(([, name]) => returning.some((text) => new RegExp(`\\bfrom ${name}\\b`).test(text)));
    },
  },
  {
    what: 'a recursive CTE without shard = $n',
    refused: 'with recursive w as (select 1 from jobs) select * from w',
    accepted: 'with recursive w as (select 1 from jobs where shard = $1) select * from w',
    isIn: (statement) => /\bwith recursive\b/.test(statement) && !ONE_SHARD.test(statement),
  },
  {
    what: 'for update or for share over several shards',
    refused: 'select id from jobs where shard = any($1) for update skip locked',
    accepted: 'select id from jobs where shard = $1 for update',
    isIn: (statement) =>
      partsOf(statement).some(
        (part) =>
          /\bfor (?:no key )?(?:update|share)\b/.test(part) && readsDistributed(part) && !ONE_SHARD.test(statement),
      ),
  },
  {
    what: 'lateral over several shards',
    refused: 'select * from unnest($1) s cross join lateral (select id from jobs where jobs.shard = s) j',
    accepted: 'select * from accounts a cross join lateral (select id from jobs where shard = $1) j',
    isIn: (statement) => /\blateral\b/.test(statement) && !ONE_SHARD.test(statement),
  },
  {
    what: 'a join with unnest over several shards without shard = any($n): it is sent to all',
    refused:
      'update jobs set lease = 1 from unnest($1::smallint[], $2::text[]) as r (shard, id) where jobs.shard = r.shard',
    accepted:
      'update jobs set lease = 1 from unnest($1::smallint[], $2::text[]) as r (shard, id) where jobs.shard = any($1::smallint[]) and jobs.shard = r.shard',
    isIn: (statement) =>
      /\bunnest\(\$\d+::smallint\[\]/.test(statement) &&
      /\b(?:join|update|using|from)\b/.test(statement) &&
      !/^\s*insert into/.test(statement) &&
      !/\bshard = any\(\$\d+/.test(statement),
  },
];

const ONE_SHARD = /\bshard = \$(?:\d+|shard)\b/;

const statements = readService()
  .filter(isStore)
  .flatMap((source) => literalsOf(source).map((text) => ({ file: source.file, text: withoutComments(text) })))
  .filter(({ text }) => isSql(text) && new RegExp(`\\b(?:${DISTRIBUTED})\\b`).test(text));

/** The statement with the text of each parenthesis that begins with `select` removed. */
function withoutSelects(text: string): string {
  const at = text.search(/\(\s*select\b/);
  return at < 0 ? text : text.slice(0, at) + withoutSelects(text.slice(endOfParenthesis(text, at)));
}

/** The bodies of the statement's CTEs, and the statement without them. */
function partsOf(statement: string): string[] {
  const parts: string[] = [];
  let rest = statement;
  for (;;) {
    const cte = /\bas (?:not )?(?:materialized )?\(\s*(?:with|select|insert|update|delete|values)\b/.exec(rest);
    if (!cte) return [...parts, rest];
    const start = rest.indexOf('(', cte.index);
    const end = endOfParenthesis(rest, start);
    parts.push(rest.slice(start + 1, end - 1));
    rest = rest.slice(0, cte.index) + rest.slice(end);
  }
}

function endOfParenthesis(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return at + 1;
  }
  return text.length;
}

function readsDistributed(part: string): boolean {
  return new RegExp(`\\b(?:from|join|update|using)\\s+(?:${DISTRIBUTED})\\b`).test(part);
}

function isChange(part: string): boolean {
  return new RegExp(`\\b(?:update|delete from)\\s+(?:only\\s+)?(?:${DISTRIBUTED})\\b`).test(part);
}

test('no statement on a distributed table has a form that Citus refuses', () => {
  const found = statements.flatMap(({ file, text }) =>
    REFUSED.filter(({ isIn }) => isIn(text)).map(({ what, accepted }) => `${file}: ${what}. Write: ${accepted}`),
  );

  assert.ok(statements.length > 60, `only ${statements.length} statements were found`);
  assert.deepEqual(found, []);
});

for (const { what, refused, accepted } of REFUSED) {
  test(`${what} is found, and the form to write in its place is not`, () => {
    const found = (text: string) => REFUSED.filter(({ isIn }) => isIn(text)).map((form) => form.what);

    assert.deepEqual([found(refused), found(accepted)], [[what], []]);
  });
}
