import { lazy, memo, type ReactNode, type Ref, Suspense, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import type { Measure } from './virtual-rows.tsx';

// A table of rows that are links. With columns of fixed widths, rows have one line: what does not fit has an ellipsis,
// and is shown on hover. j and k move between the rows, x selects one, Enter or a click opens it (app/navigation); the
// first link of a row is the one that opens it. On phones each row has two lines.
//
//   <Table label="Jobs" rows={jobs} keyOf={(job) => job.id}
//     columns={[{ head: 'File', cell: (job) => <Link …/> }, { head: 'Cost', width: 6, isNumber: true, cell: … }]} />
//   const selection = useSelection();   …   <Table selection={selection} …/>      with a box in each row

export type Column<Row> = {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Aligned to the right. */
  isNumber?: boolean;
  /** Sentences: as many lines as they need. */
  wraps?: boolean;
  /** In rem; absent: a share of what the others leave. */
  width?: number;
  /** On phones: beside the first column, in the line below it (the default), or nowhere; nor beside a side panel. */
  phone?: 'side' | 'hidden';
};

export type TableProps<Row> = {
  /** For screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** What a row is called, for screen readers; absent: its key. */
  nameOf?: (row: Row) => string;
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
    <table className={classOf(columns)} aria-rowcount={rows.length + 1} onPointerOver={showWhole}>
      <caption className="hidden">{label}</caption>
      <Heads columns={columns} hasBox={selection !== undefined}>
        <input
          type="checkbox"
          aria-label="Select all"
          checked={isAllChosen}
          onChange={() => selection?.set(isAllChosen ? [] : rows.map(keyOf))}
        />
      </Heads>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys work on the link of the row */}
      <tbody ref={bodyRef} onClick={openRow}>
        {children}
      </tbody>
    </table>
  );
}

/** The widths and the names of the columns. @param children  what is above the boxes */
function Heads<Row>({
  columns,
  hasBox,
  children,
}: {
  columns: readonly Column<Row>[];
  hasBox: boolean;
  children?: ReactNode;
}) {
  return (
    <>
      <colgroup>
        {hasBox && <col style={{ width: '2.25rem' }} />}
        {columns.map(({ head, width, phone }) => (
          <col key={head} data-phone={phone} style={width === undefined ? undefined : { width: `${width}rem` }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {hasBox && (
            <th scope="col" className="box">
              {children}
            </th>
          )}
          {columns.map(({ head, isNumber, phone }) => (
            <th key={head} scope="col" data-phone={phone} className={isNumber ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
    </>
  );
}

const BONES = 8;

/** The place of a table while its rows are loaded, with the height of its rows. */
export function TableSkeleton<Row>({ columns, rows = BONES }: { columns: readonly Column<Row>[]; rows?: number }) {
  return (
    <>
      <p className="hidden" role="status">
        Loading…
      </p>
      <table className={`${classOf(columns)} loading`} aria-hidden="true">
        <Heads columns={columns} hasBox={false} />
        <tbody>
          {Array.from({ length: rows }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: all are the same
            <tr key={row}>
              {columns.map(({ head }, at) => (
                <td key={head}>
                  <span className="bone" style={{ width: `${45 + ((row * 17 + at * 29) % 45)}%` }} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Columns are fixed where at least one has a width. */
function classOf<Row>(columns: readonly Column<Row>[]): string {
  return columns.some(({ width }) => width !== undefined) ? 'rows' : 'free';
}

/** A text with an ellipsis is shown whole on hover. */
function showWhole({ target }: { target: EventTarget }): void {
  const cell = target instanceof Element ? target.closest('td') : null;
  const isCut = (element: Element) => element.scrollWidth > element.clientWidth && element.clientWidth > 0;
  if (cell && !cell.title && [cell, ...cell.children].some(isCut)) cell.title = cell.textContent;
}

/** A click anywhere in a row does what one on its link does. */
function openRow({ target, currentTarget }: { target: EventTarget; currentTarget: Element }): void {
  if (!(target instanceof Element) || target.closest('a, button, input, select, label, [role=dialog]')) return;
  if (!currentTarget.contains(target) || getSelection()?.isCollapsed === false) return;
  target.closest('tr')?.querySelector('a')?.click();
}

function RowCells<Row>({
  row,
  index,
  measure,
  columns,
  keyOf,
  nameOf = keyOf,
  selection,
}: TableProps<Row> & { row: Row; index?: number; measure?: Measure }) {
  const key = keyOf(row);
  return (
    <tr data-row={key} data-index={index} ref={measure} aria-rowindex={index === undefined ? undefined : index + 2}>
      {selection && (
        <td className="box">
          <input
            type="checkbox"
            aria-label={`Select ${nameOf(row)}`}
            checked={selection.has(key)}
            onChange={() => selection.toggle(key)}
          />
        </td>
      )}
      {columns.map(({ head, cell, isNumber, wraps, phone }) => (
        <td
          key={head}
          data-head={head}
          data-phone={phone}
          // A text that is cut loses its end, whichever way it is read.
          dir={isNumber ? undefined : 'auto'}
          className={isNumber ? 'number' : wraps ? 'wraps' : undefined}
        >
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

// While a long table scrolls, the rows that stay are not rendered again.
const Cells = memo(RowCells) as typeof RowCells;

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
