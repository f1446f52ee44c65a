type SqlType = 'bigint' | 'boolean' | 'bytea' | 'integer' | 'jsonb' | 'real' | 'smallint' | 'text' | 'timestamptz';

/** A column of a table: its type in SQL, and its value in a row in which nothing has written it yet. */
export type Column<Value> = { type: SqlType; initial?: Value };

/** Columns by the names of their values, in camel case; the database's names are the same in snake case. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** The values of columns, as they are read and inserted. */
export type ValuesOf<Table> = { [Name in keyof Table]: Table[Name] extends Column<infer Value> ? Value : never };

/** A column that every row has from its insert on. */
export function given<Value>(type: SqlType): Column<Value> {
  return { type };
}

/** A column that is written later, or not at all. @param initial  what it is until then: as the column's default */
export function column<Value>(type: SqlType, initial: Value): Required<Column<Value>> {
  return { type, initial };
}

/** The values of columns that nothing has written yet. */
export function initialValues<Table extends Readonly<Record<string, Required<Column<unknown>>>>>(
  table: Table,
): ValuesOf<Table> {
  const values = Object.entries(table).map(([name, { initial }]) => [name, initial]);
  return Object.fromEntries(values);
}

/** SQL that selects columns under the names of their values. @param from  the name of the table in the statement */
export function selectColumns(from: string, columns: Columns): string {
  return Object.keys(columns)
    .map((name) => `${from}.${columnName(name)} as "${name}"`)
    .join(', ');
}

/** SQL for an insert: the columns, and the named parameters with their values in the same order. */
export function insertColumns(columns: Columns): { names: string; parameters: string } {
  const entries = Object.entries(columns);
  return {
    names: entries.map(([name]) => columnName(name)).join(', '),
    parameters: entries.map(([name, { type }]) => `$${name}::${type}`).join(', '),
  };
}

/** The values of the parameters of `insertColumns`. */
export function insertValues<Table extends Columns>(columns: Table, row: ValuesOf<Table>): Record<string, unknown> {
  const values = Object.entries(columns).map(([name, { type }]) => {
    const value = row[name as keyof Table];
    return [name, type === 'jsonb' && value !== null ? JSON.stringify(value) : value];
  });
  return Object.fromEntries(values);
}

/** The values of some columns of a row. */
export function pickColumns<Table extends Columns>(columns: Table, row: ValuesOf<Table>): ValuesOf<Table> {
  const values = Object.keys(columns).map((name) => [name, row[name as keyof Table]]);
  return Object.fromEntries(values) as ValuesOf<Table>;
}

/** The name of a column in the database. */
export function columnName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
