import type { Sql } from '../../db/database.ts';
import type { EmailProof } from '../../rules/accounts/email.ts';

export type UserRow = {
  id: string;
  /** In its normal form, or as an earlier release stored it. */
  email: string;
  emailProof: EmailProof;
  name: string;
  /** Null: the user has no password. */
  passwordHash: string | null;
  /** Null until the first sign-in by OpenID Connect. */
  oidcIssuer: string | null;
  isOperator: boolean;
  createdAt: Date;
};

/** Who the OpenID provider says that somebody is. */
export type Subject = { issuer: string; subject: string };

const COLUMNS = `id, email, email_proof as "emailProof", name, password_hash as "passwordHash", oidc_issuer as "oidcIssuer",
  is_operator as "isOperator", created_at as "createdAt"`;

/** Whether the service has any user. */
export async function hasUsers(sql: Sql): Promise<boolean> {
  return (await sql.rows({ name: 'has_users', text: 'select 1 from users limit 1' })).length > 0;
}

/** Makes other transactions that add users wait for the end of this one. */
export async function lockUsers(tx: Sql): Promise<void> {
  await tx.run({ text: 'lock table users in share row exclusive mode' });
}

export async function findUser(sql: Sql, id: string): Promise<UserRow | null> {
  const [row] = await sql.rows<UserRow>({ text: `select ${COLUMNS} from users where id = $1`, values: [id] });
  return row ?? null;
}

const SUREST_FIRST = `array_position('{service,account,none}'::text[], email_proof), id`;

/** The stored hash of a user of the email; null where none has a password. @param exceptId  null: of any user */
export async function findHashOfEmail(sql: Sql, email: string, exceptId: string | null): Promise<string | null> {
  const [row] = await sql.rows<{ hash: string }>({
    name: 'find_hash_of_email',
    text: `
      select password_hash as hash
      from users
      where email = $1 and password_hash is not null and id is distinct from $2::text
      limit 1`,
    values: [email, exceptId],
  });
  return row?.hash ?? null;
}

/** The user with an email and a password; of several the one whose email is surest. */
export async function findUserByHash(sql: Sql, email: string, hash: string): Promise<UserRow | null> {
  const [row] = await sql.rows<UserRow>({
    name: 'find_user_by_hash',
    text: `
      select ${COLUMNS}
      from users
      where email = $1 and password_hash = $2
      order by ${SUREST_FIRST}
      limit 1`,
    values: [email, hash],
  });
  return row ?? null;
}

/** Makes other transactions that lock the email wait for the end of this one. */
export async function lockEmail(tx: Sql, email: string): Promise<void> {
  await tx.rows({ text: 'select pg_advisory_xact_lock(3, hashtext($1))', values: [email] });
}

/** Whether a user of the email has a password that does not begin so. @param exceptId  null: any user */
export async function hasOtherSalt(
  tx: Sql,
  email: string,
  beginning: string,
  exceptId: string | null,
): Promise<boolean> {
  const rows = await tx.rows({
    text: `
      select 1
      from users
      where email = $1 and not starts_with(password_hash, $2) and id is distinct from $3::text
      limit 1`,
    values: [email, beginning, exceptId],
  });
  return rows.length > 0;
}

/** The user whom somebody with this email may be: not one who has only typed it. */
export async function findUserOfEmail(sql: Sql, emails: readonly string[]): Promise<UserRow | null> {
  const [row] = await sql.rows<UserRow>({
    text: `
      select ${COLUMNS}
      from users
      where email = any($1) and email_proof <> 'none'
      order by ${SUREST_FIRST}
      limit 1`,
    values: [emails],
  });
  return row ?? null;
}

/** The user whom an operator's invitation of this email lets back in: one who has shown it, or is in the account. */
export async function findUserToRestore(
  sql: Sql,
  { emails, shard, accountId }: { emails: readonly string[]; shard: number; accountId: string },
): Promise<UserRow | null> {
  const [row] = await sql.rows<UserRow>({
    text: `
      select ${COLUMNS}
      from users
      where email = any($1) and (email_proof = 'service' or exists (
        select 1
        from api_keys
        where api_keys.shard = $2 and api_keys.account_id = $3 and api_keys.user_id = users.id
      ))
      order by ${SUREST_FIRST}
      limit 1`,
    values: [emails, shard, accountId],
  });
  return row ?? null;
}

/**
 * Notes how sure a user's email is, where it was less sure. Whoever else was sure to have the email is so no more: the
 * last proof counts.
 */
export async function raiseProof(
  tx: Sql,
  { id, email }: Pick<UserRow, 'id' | 'email'>,
  proof: EmailProof,
): Promise<void> {
  if (proof === 'service') {
    await tx.run({
      text: `update users set email_proof = 'none' where email = $1 and id <> $2 and email_proof = 'service'`,
      values: [email, id],
    });
  }
  await tx.run({
    text: `
      update users
      set email_proof = $2
      where id = $1 and array_position('{service,account,none}'::text[], email_proof)
        > array_position('{service,account,none}'::text[], $2::text)`,
    values: [id, proof],
  });
}

export async function findUserBySubject(sql: Sql, { issuer, subject }: Subject): Promise<UserRow | null> {
  const [row] = await sql.rows<UserRow>({
    text: `select ${COLUMNS} from users where oidc_issuer = $1 and oidc_subject = $2`,
    values: [issuer, subject],
  });
  return row ?? null;
}

type NewUser = Pick<UserRow, 'id' | 'email' | 'name' | 'passwordHash' | 'isOperator'> & { oidc: Subject | null };

/** Null when another user has the subject. Nobody is sure to have the email yet: see `raiseProof`. */
export async function insertUser(tx: Sql, user: NewUser): Promise<UserRow | null> {
  const { id, email, name, passwordHash, isOperator, oidc } = user;
  const [row] = await tx.rows<UserRow>({
    text: `
      insert into users
        (id, email, email_proof, name, password_hash, oidc_issuer, oidc_subject, is_operator, created_at)
      values ($1, $2, 'none', $3, $4, $5, $6, $7, clock_timestamp())
      on conflict do nothing
      returning ${COLUMNS}`,
    values: [id, email, name, passwordHash, oidc?.issuer ?? null, oidc?.subject ?? null, isOperator],
  });
  return row ?? null;
}

/** Changes what is not null; null when there is no such user. */
export async function updateUser(
  tx: Sql,
  id: string,
  {
    name = null,
    passwordHash = null,
    makesOperator = false,
  }: Partial<Record<'name' | 'passwordHash', string | null>> & {
    makesOperator?: boolean;
  },
): Promise<UserRow | null> {
  const [row] = await tx.rows<UserRow>({
    text: `
      update users
      set name = coalesce($2, name), password_hash = coalesce($3, password_hash), is_operator = is_operator or $4
      where id = $1
      returning ${COLUMNS}`,
    values: [id, name, passwordHash, makesOperator],
  });
  return row ?? null;
}

/** Newest first. @param page.beforeId  null for the first page */
export async function listOperators(
  sql: Sql,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<UserRow[]> {
  return await sql.rows<UserRow>({
    text: `
      select ${COLUMNS}
      from users
      where is_operator and ($1::text is null or id < $1)
      order by id desc
      limit $2`,
    values: [beforeId, limit],
  });
}

export async function countOperators(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ operators: number }>({
    text: 'select count(*) as operators from users where is_operator',
  });
  return row!.operators;
}

/** Makes a user an operator no more. Returns whether the user was one. */
export async function endOperator(tx: Sql, id: string): Promise<boolean> {
  const changed = await tx.run({
    text: 'update users set is_operator = false where id = $1 and is_operator',
    values: [id],
  });
  return changed > 0;
}

/** From now on the user signs in by this only. */
export async function replaceSignIn(
  tx: Sql,
  id: string,
  { passwordHash, oidc }: Pick<NewUser, 'passwordHash' | 'oidc'>,
): Promise<void> {
  await tx.run({
    text: 'update users set password_hash = $2, oidc_issuer = $3, oidc_subject = $4 where id = $1',
    values: [id, passwordHash, oidc?.issuer ?? null, oidc?.subject ?? null],
  });
}

/** Keeps users from joining or leaving accounts until the transaction ends. */
export async function holdUsers(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.run({ text: 'select id from users where id = any($1) order by id for update', values: [ids] });
}

/** Deletes those of the users who belong to no account, but for operators. @param ids  users that are held */
export async function deleteUsersWithoutAccount(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.run({
    text: `
      delete from users
      where id = any($1) and not is_operator
        and not exists (select 1 from api_keys where api_keys.user_id = users.id)`,
    values: [ids],
  });
}
