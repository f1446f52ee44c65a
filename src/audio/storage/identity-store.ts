import type { Sql } from '../../db/database.ts';

/**
 * The id of the audio storage that the database knows; null when it knows none. That of another database, of which this
 * one is a restored copy, counts as none.
 */
export async function findStorageId(sql: Sql): Promise<string | null> {
  const madeIn = await fingerprint(sql);
  const [row] = await sql.rows<{ id: string }>({
    text: 'select id from audio_storage where made_in = $1',
    values: [madeIn],
  });
  return row?.id ?? null;
}

/** Stores the id of the audio storage. Returns the id that is stored: another node may have been first. */
export async function saveStorageId(sql: Sql, id: string): Promise<string> {
  const madeIn = await fingerprint(sql);
  await sql.run({
    text: `
      insert into audio_storage as known (id, made_in)
      values ($1, $2)
      on conflict (is_only) do update
      set id = excluded.id, made_in = excluded.made_in
      where known.made_in <> excluded.made_in`,
    values: [id, madeIn],
  });
  return (await findStorageId(sql)) ?? id;
}

async function fingerprint(sql: Sql): Promise<string> {
  const [row] = await sql.rows<{ text: string }>({
    text: `
      select (select system_identifier from pg_control_system()) || '/' || oid as text
      from pg_database
      where datname = current_database()`,
  });
  return row!.text;
}
