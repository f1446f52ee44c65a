/** The most bytes of rows that a page of a list has, unless one row is larger. */
const MAX_PAGE_BYTES = 1024 * 1024;

/** A row of `firstBytes`. */
export type SizedRow = {
  /** The bytes of the rows of the page up to this one, with it. */
  endBytes: number;
};

/**
 * SQL of the first rows of a query, up to the one with which they have more than `MAX_PAGE_BYTES`: that one shows that
 * there are more.
 * @param query  its rows have a column "rowBytes"
 * @param order  of the rows of the query
 */
export function firstBytes(query: string, order: string): string {
  return `
      select *
      from (
        select listed.*, sum(listed."rowBytes") over (order by ${order} rows unbounded preceding) as "endBytes"
        from (${query}
        ) as listed
      ) as page
      where "endBytes" - "rowBytes" <= ${MAX_PAGE_BYTES}
      order by ${order}`;
}

/** How many of the rows of `firstBytes` are on the page. */
export function countFitting(rows: readonly SizedRow[]): number {
  const count = rows.findIndex(({ endBytes }) => endBytes > MAX_PAGE_BYTES);
  return count === -1 ? rows.length : Math.max(1, count);
}
