import type { ReactNode } from 'react';
import type { List } from '../api/list.ts';
import { Query } from '../ui/state.tsx';
import { type Column, MoreRows, Table, TableSkeleton } from '../ui/table/table.tsx';

/**
 * A list of the API as a table, with a button for the next page.
 * @param label  of the table, for screen readers
 * @param empty  what is shown in place of a table without rows
 */
export function ListRows<Item extends { id: string }>({
  list,
  label,
  columns,
  empty,
}: {
  list: List<Item>;
  label: string;
  columns: readonly Column<Item>[];
  empty: ReactNode;
}) {
  return (
    <>
      <Query of={list} skeleton={<TableSkeleton columns={columns} />}>
        {(rows) =>
          rows.length === 0 ? empty : <Table label={label} rows={rows} keyOf={({ id }) => id} columns={columns} />
        }
      </Query>
      <MoreRows list={list} />
    </>
  );
}
