import { lazy, type ReactNode, type Ref, Suspense, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import type { Measure } from './virtual-rows.tsx';

// A table of rows that are links. j and k move between the rows, x selects one, Enter opens it (app/navigation); the
// first link of a row is the one that opens it. On narrow screens each row is a block.
//
//   <Table label="Jobs" rows={jobs} keyOf={(job) => job.id}
//     columns={[{ head: 'File', cell: (job) => <Link …/> }, { head: 'Cost', cell: …, isNumber: true }]} />
//   const selection = useSelection();   …   <Table selection={selection} …/>      with a box in each row

export type Column<Row> = {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Aligned to the right, on one line. */
  isNumber?: boolean;
  /** Holds names or messages of strangers: broken anywhere, as a word of theirs may be longer than the page is wide. */
  isLong?: boolean;
};

export type TableProps<Row> = {
  /** For screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selection?: Selection;
};

/** The chosen rows of a table, by key. */
export type Selection = {
  keys: readonly string[];
  has(key: string): boolean;
  toggle(key: string): void;
  set(keys: readonly string[]): void;
};

export function useSelection(): Selection {
  const [keys, setKeys] = useState<readonly string[]>([]);
  return {
    keys,
    has: (key) => keys.includes(key),
    toggle: (key) => setKeys(keys.includes(key) ? keys.filter((other) => other !== key) : [...keys, key]),
    set: setKeys,
  };
}

// Of shorter tables all rows are in the page.
const VIRTUAL_FROM = 120;
// Loaded when a table is long: 5 kB that most visits do not need.
const VirtualRows = lazy(() => import('./virtual-rows.tsx'));

export function Table<Row>(props: TableProps<Row>) {
  const { rows, keyOf } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const plain = (count: number) => rows.slice(0, count).map((row) => <Cells key={keyOf(row)} row={row} {...props} />);
  const virtual = (index: number, measure: Measure) => (
    <Cells key={keyOf(rows[index]!)} row={rows[index]!} index={index} measure={measure} {...props} />
  );
  return (
    <Frame {...props} bodyRef={body}>
      {rows.length < VIRTUAL_FROM ? (
        plain(rows.length)
      ) : (
        <Suspense fallback={plain(VIRTUAL_FROM)}>
          <VirtualRows body={body} keys={rows.map(keyOf)} row={virtual} />
        </Suspense>
      )}
    </Frame>
  );
}

function Frame<Row>({
  label,
  columns,
  rows,
  keyOf,
  selection,
  bodyRef,
  children,
}: TableProps<Row> & { bodyRef: Ref<HTMLTableSectionElement>; children: ReactNode }) {
  const isAllChosen = rows.length > 0 && rows.every((row) => selection?.has(keyOf(row)));
  return (
    <table aria-rowcount={rows.length + 1}>
      <caption className="hidden">{label}</caption>
      <thead>
        <tr>
          {selection && (
            <th scope="col" className="box">
              <input
                type="checkbox"
                aria-label="Select all"
                checked={isAllChosen}
                onChange={() => selection.set(isAllChosen ? [] : rows.map(keyOf))}
              />
            </th>
          )}
          {columns.map(({ head, isNumber }) => (
            <th key={head} scope="col" className={isNumber ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={bodyRef}>{children}</tbody>
    </table>
  );
}

function Cells<Row>({
  row,
  index,
  measure,
  columns,
  keyOf,
  selection,
}: TableProps<Row> & { row: Row; index?: number; measure?: Measure }) {
  const key = keyOf(row);
  return (
    <tr data-row={key} data-index={index} ref={measure} aria-rowindex={index === undefined ? undefined : index + 2}>
      {selection && (
        <td className="box">
          <input
            type="checkbox"
            aria-label={`Select ${key}`}
            checked={selection.has(key)}
            onChange={() => selection.toggle(key)}
          />
        </td>
      )}
      {columns.map(({ head, cell, isNumber, isLong }) => (
        <td key={head} data-head={head} className={isNumber ? 'number' : isLong ? 'long' : undefined}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

type Listed = { newCount: number; showNew: () => void; hasMore: boolean; loadMore: () => void; isLoadingMore: boolean };

/** Above a table: says how many new rows there are, and shows them on demand. */
export function NewRows({ list }: { list: Listed }) {
  return (
    <div className="new-rows" role="status">
      {list.newCount > 0 && (
        <Button look="primary" onClick={list.showNew}>
          {list.newCount} new
        </Button>
      )}
    </div>
  );
}

/** Below a table: loads the next page. */
export function MoreRows({ list }: { list: Listed }) {
  if (!list.hasMore) return null;
  return (
    <p>
      <Button onClick={list.loadMore} disabled={list.isLoadingMore}>
        {list.isLoadingMore ? 'Loading…' : 'Older'}
      </Button>
    </p>
  );
}
