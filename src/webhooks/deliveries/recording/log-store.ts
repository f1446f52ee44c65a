import type { Sql } from '../../../db/database.ts';
import { columnName, given, type ValuesOf } from '../../../db/statements/columns.ts';
import { joinedTexts, textsOf } from '../../../db/statements/joined-texts.ts';
import { defineStatement } from '../../../db/statements/named-parameters.ts';
import { plainArray } from '../../../db/statements/plain-array.ts';
import { timeOfId } from '../../../rules/ids.ts';
import { ATTEMPT_TABLE } from '../../events/attempt-table.ts';

const COLUMNS = {
  ...ATTEMPT_TABLE.delivery,
  ...ATTEMPT_TABLE.shown,
  status: given<'succeeded' | 'failed' | 'dropped'>('text'),
  ...ATTEMPT_TABLE.result,
  ...ATTEMPT_TABLE.content,
};

/** An entry of the delivery log. */
export type LogEntry = ValuesOf<typeof COLUMNS> & { shard: number; attemptId: string; completedAt: Date };

type Name = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Name[];

// Texts that would need quotes in an array literal; the values of AS_ARRAY are passed to the client as arrays.
const JOINED: readonly Name[] = ['url', 'remoteAddress', 'requestHeaders', 'responseHeaders'];
const AS_ARRAY: readonly Name[] = ['errorMessage', 'responseBody'];

const parameterOf = (name: string) => `$${name}Values`;
const arrayOf = (name: Name) =>
  JOINED.includes(name) ? textsOf(parameterOf(name)) : `${parameterOf(name)}::${COLUMNS[name].type}[]`;

/** The values of one column of entries, as `insertEntries` takes them. */
function valuesOf(name: Name, entries: Partial<LogEntry>[]): unknown {
  const values = entries.map((entry) => entry[name] ?? null);
  if (AS_ARRAY.includes(name)) return values;
  return JOINED.includes(name) ? joinedTexts(values as string[]) : plainArray(values as string[]);
}

/**
 * SQL that inserts entries from the arrays of `entryValues`.
 * @param fixed      SQL of columns that have one value in all entries; their arrays are not read
 * @param condition  which of the entries; it may name `attempt_id`
 */
export function insertEntries(fixed: { [name in Name]?: string }, condition: string): string {
  const read = NAMES.filter((name) => !(name in fixed));
  return `insert into attempts (shard, id, ${NAMES.map(columnName).join(', ')}, created_at, completed_at)
  select shard, attempt_id, ${NAMES.map((name) => fixed[name] ?? columnName(name)).join(', ')},
    to_timestamp(created_at_ms / 1000), to_timestamp(completed_at_ms / 1000)
  from unnest($shardValues::smallint[], $attemptIdValues::text[], ${read.map(arrayOf).join(', ')}, $createdAtValues::float8[], $completedAtValues::float8[])
    as b (shard, attempt_id, ${read.map(columnName).join(', ')}, created_at_ms, completed_at_ms)
  where ${condition}`;
}

/** The parameters of `insertEntries`: `$shardValues` and so on, an array for each column. */
export function entryValues(entries: (Omit<LogEntry, 'status'> & { status?: LogEntry['status'] })[]) {
  return {
    ...Object.fromEntries(NAMES.map((name) => [`${name}Values`, valuesOf(name, entries)])),
    shardValues: plainArray(entries.map(({ shard }) => shard)),
    attemptIdValues: plainArray(entries.map(({ attemptId }) => attemptId)),
    createdAtValues: plainArray(entries.map(({ attemptId }) => timeOfId(attemptId))),
    completedAtValues: plainArray(entries.map(({ completedAt }) => completedAt.getTime())),
  };
}

/** Inserts entries of one shard into the delivery log. */
export async function insertLogEntries(tx: Sql, entries: LogEntry[]): Promise<void> {
  if (entries.length > 0) await tx.run(INSERT_ENTRIES(entryValues(entries)));
}

const INSERT_ENTRIES = defineStatement({ name: 'insert-log-entries' }, insertEntries({}, 'true'));
