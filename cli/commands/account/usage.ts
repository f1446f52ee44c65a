import { type Command, Option } from 'commander';
import type { UsageRow } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { time } from '../../options.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { clockTime, credits } from '../../terminal/format.ts';
import type { Part } from '../../terminal/part.ts';

type UsageOptions = {
  from?: string;
  to?: string;
  bucket?: 'hour' | 'day' | 'month';
  groupBy?: 'plan' | 'model' | 'key';
  csv?: boolean;
};

/** `verbatim usage` */
export function define(command: Command, io: Io): void {
  addWebOption(command, () => 'usage')
    .option('--from <time>', 'since this time: 2026-11-01, 30d …', time)
    .option('--to <time>', 'before this time', time)
    .addOption(new Option('--bucket <length>', 'one line for each').choices(['hour', 'day', 'month']))
    .addOption(new Option('--group-by <field>', 'and for each of these').choices(['plan', 'model', 'key']))
    .option('--csv', 'as CSV')
    .action(action<[], UsageOptions>(io, showUsage));
}

async function showUsage(session: Session, { from, to, bucket, groupBy, csv }: UsageOptions): Promise<void> {
  const { out } = session;
  const client = await session.client();
  const query = { from, to, bucket, group_by: groupBy };
  if (csv) return out.file(await client.usageCsv(query));
  const usage = await client.usage(query);
  if (out.mode !== 'text')
    return out.show({ json: session.answer(), ids: usage.data.map(({ start }) => start), lines: [] });
  if (usage.data.length === 0) return out.note(`No jobs ended from ${usage.from} to ${usage.to}.`);
  const group = groupBy === undefined ? [] : [groupBy];
  const head = [usage.bucket, ...group, 'jobs', 'failed', 'canceled', 'audio', 'billed', 'credits'];
  const total = sumOf(usage.data);
  const rows = usage.data.map((row) => rowOf(row.start.slice(0, usage.bucket === 'hour' ? 16 : 10), row, group));
  out.table(head, [...rows, rowOf('total', total, group)]);
}

function rowOf(label: string, row: UsageRow, group: string[]): Part[] {
  const name = row.plan ?? row.model ?? row.key_id ?? '-';
  return [
    label,
    ...group.map(() => name),
    ...[row.jobs, row.failed, row.canceled].map(String),
    ...[row.audio_seconds, row.billed_seconds].map(clockTime),
    credits(row.cost),
  ];
}

function sumOf(rows: UsageRow[]): UsageRow {
  const sum = (field: 'jobs' | 'failed' | 'canceled' | 'audio_seconds' | 'billed_seconds' | 'cost') =>
    rows.reduce((total, row) => total + row[field], 0);
  return {
    start: '',
    end: '',
    jobs: sum('jobs'),
    failed: sum('failed'),
    canceled: sum('canceled'),
    audio_seconds: sum('audio_seconds'),
    billed_seconds: sum('billed_seconds'),
    cost: sum('cost'),
  };
}
