import type { Database, Sql } from './database.ts';

/** The database cannot be distributed as it is; the message says what to do. */
export class DistributionError extends Error {}

export type Distribution = {
  /** The tables that this call distributed. */
  added: string[];
  /** The tables that were distributed before. */
  already: string[];
};

// The table that all others are colocated with.
const FIRST = 'accounts';
/**
 * Tables that stay on the coordinator: read before the shard is known, or locked over many shards in one statement.
 * @internal  for the test of the SQL that Citus refuses
 */
export const LOCAL = ['api_keys', 'sessions', 'delivery_shards'];

/**
 * Distributes the tables that have a column `shard` over the workers of a Citus cluster, all in one colocation group.
 * Their rows are moved. All or none: it runs in one transaction.
 * Nothing changes when it runs again. Call `checkCluster` first.
 * @param db          on the coordinator, with the service's schema
 * @param shardCount  Citus shards: a distributed statement over all rows has this many parts
 * @throws DistributionError
 */
export async function distribute(db: Database, { shardCount }: { shardCount: number }): Promise<Distribution> {
  return await db.transaction((tx) => distributeTables(tx, shardCount), { withoutTimeouts: true });
}

/**
 * Prepares a transaction that changes the schema: later statements on a distributed table run shard by shard, so that
 * tables can be distributed in the same transaction. Returns whether the database is distributed.
 */
export async function beginSchemaChange(tx: Sql): Promise<boolean> {
  if (!(await hasCitus(tx)) || !(await readTables(tx)).some(({ name, column }) => name === FIRST && column !== null))
    return false;
  await tx.run({ text: `set local citus.multi_shard_modify_mode = 'sequential'` });
  return true;
}

/** Distributes the tables that a migration of a distributed database has created. Returns their names. */
export async function distributeNewTables(tx: Sql): Promise<string[]> {
  return (await distributeTables(tx, null)).added;
}

/** Whether tables of the database may be distributed. */
async function hasCitus(sql: Sql): Promise<boolean> {
  return (await sql.rows({ text: `select 1 from pg_extension where extname = 'citus'` })).length > 0;
}

/**
 * Checks that the database is that of a coordinator with workers, and that no node uses it.
 * Returns the number of workers.
 * @throws DistributionError
 */
export async function checkCluster(tx: Sql): Promise<number> {
  if (!(await hasCitus(tx))) {
    throw new DistributionError(
      'This database has no Citus. Install it on the coordinator and the workers, and run "create extension citus" in the database of this name on each of them.',
    );
  }
  const [node] = await tx.rows<{ isCoordinator: boolean; workers: number }>({
    text: `
      select
        (select groupid = 0 from pg_dist_local_group) as "isCoordinator",
        (select count(*) from pg_dist_node where isactive and groupid <> 0 and noderole = 'primary') as workers`,
  });
  if (!node!.isCoordinator) throw new DistributionError('DATABASE_URL names a worker. It must name the coordinator.');
  if (node!.workers === 0) {
    throw new DistributionError(
      'The cluster has no workers. Add each with "select citus_add_node(\'<host>\', <port>)" on the coordinator.',
    );
  }
  const [others] = await tx.rows<{ connections: number }>({
    text: `
      select count(*) as connections
      from pg_stat_activity
      where datname = current_database() and application_name = 'verbatim' and pid <> pg_backend_pid()`,
  });
  if (others!.connections > 0) {
    throw new DistributionError(
      `The service has ${others!.connections} connections to this database. Stop all nodes first: tables are locked while their rows are moved.`,
    );
  }
  return node!.workers;
}

async function distributeTables(tx: Sql, shardCount: number | null): Promise<Distribution> {
  const tables = await readTables(tx);
  const wanted = tables.filter(({ name }) => !LOCAL.includes(name));
  if (wanted[0]?.name !== FIRST) throw new DistributionError('The database has no tables of the service.');
  const wrong = tables.find(({ name, column }) => column !== null && (LOCAL.includes(name) || column !== 'shard'));
  if (wrong) {
    throw new DistributionError(
      `The table ${wrong.name} is already distributed, by ${wrong.column || 'nothing'}. Undo it with "select undistribute_table('${wrong.name}')".`,
    );
  }
  const group = wanted[0].group;
  const apart = wanted.find((table) => table.column !== null && table.group !== group);
  if (apart) {
    throw new DistributionError(
      `The table ${apart.name} is not colocated with ${FIRST}. Undo it with "select undistribute_table('${apart.name}')".`,
    );
  }
  const missing = wanted.filter(({ column }) => column === null).map(({ name }) => name);
  for (const name of missing) {
    const values = name === FIRST ? [name, shardCount] : [name, FIRST];
    const place = name === FIRST ? 'shard_count => $2::integer' : 'colocate_with => $2::text';
    await tx.run({ text: `select create_distributed_table($1::regclass, 'shard', ${place})`, values });
  }
  return { added: missing, already: wanted.map(({ name }) => name).filter((name) => !missing.includes(name)) };
}

/**
 * A table with a column `shard`: the column by which it is distributed ('' for a reference table), null if it is not.
 */
type Table = { name: string; column: string | null; group: number | null };

/** `FIRST` comes first. */
async function readTables(sql: Sql): Promise<Table[]> {
  return await sql.rows<Table>({
    text: `
      select c.relname as name, d.colocationid as group,
        case
          when d.partmethod = 'h' then column_to_column_name(d.logicalrelid, d.partkey)
          when d.repmodel = 't' then ''
        end as column
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'shard' and not a.attisdropped
      left join pg_dist_partition d on d.logicalrelid = c.oid
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
      order by c.relname <> $1, c.relname`,
    values: [FIRST],
  });
}
