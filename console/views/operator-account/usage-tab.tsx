import { useQuery } from '@tanstack/react-query';
import type { UsageRow } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { FilterSelect, Filters, useFilters } from '../../app/filters.tsx';
import { clockTime } from '../../text/format.ts';
import { type CalendarUnit, calendarDate, calendarHead } from '../../text/times.ts';
import { Credits } from '../../ui/credits.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';

const columnsOf = (unit: CalendarUnit): Column<UsageRow>[] => [
  { head: calendarHead(unit), cell: ({ start }) => calendarDate(Date.parse(start), unit) },
  { head: 'Jobs', cell: ({ jobs }) => jobs, isNumber: true },
  { head: 'Failed', cell: ({ failed }) => failed, isNumber: true },
  { head: 'Canceled', cell: ({ canceled }) => canceled, isNumber: true },
  { head: 'Audio', cell: ({ audio_seconds }) => clockTime(audio_seconds), isNumber: true },
  { head: 'Charged', cell: ({ billed_seconds }) => clockTime(billed_seconds), isNumber: true },
  { head: 'Credits', cell: ({ cost }) => <Credits of={cost} />, isNumber: true },
];

/** Jobs, lengths and credits per day or month. */
export function UsageTab({ accountId }: { accountId: string }) {
  const bucket = useFilters()[0]['bucket'] === 'month' ? 'month' : 'day';
  const usage = useQuery({
    queryKey: ['operator', 'usage', accountId, bucket],
    queryFn: ({ signal }) => operator.usage({ account_id: accountId, bucket }, { signal }),
  });
  return (
    <>
      <Filters>
        <FilterSelect name="bucket" label="Per" values={['month']} all="day" />
      </Filters>
      <Query of={usage}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No jobs ended in this period" />
          ) : (
            <Table label="Usage" rows={data.toReversed()} keyOf={({ start }) => start} columns={columnsOf(bucket)} />
          )
        }
      </Query>
    </>
  );
}
