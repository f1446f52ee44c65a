import type { Sql } from '../../db/database.ts';
import type { Role } from '../../rules/accounts/roles.ts';

export type InvitationRow = {
  id: string;
  accountId: string;
  role: Role;
  /** The only address that may accept it; null: any. */
  email: string | null;
  isByOperator: boolean;
  makesOperator: boolean;
  /** A user; null: the operator, or a user who is gone. */
  createdBy: string | null;
  createdAt: Date;
  expiresAt: Date;
};

const COLUMNS = `id, account_id as "accountId", role, email, is_by_operator as "isByOperator",
  makes_operator as "makesOperator", created_by as "createdBy", created_at as "createdAt", expires_at as "expiresAt"`;

type NewInvitation = Omit<InvitationRow, 'createdAt' | 'expiresAt'> & { hash: Buffer; keepMs: number };

export async function insertInvitation(tx: Sql, invitation: NewInvitation): Promise<InvitationRow> {
  const { id, accountId, role, email, hash, isByOperator, makesOperator, createdBy, keepMs } = invitation;
  const rows = await tx.rows<InvitationRow>({
    text: `
      insert into invitations
        (id, account_id, role, email, hash, is_by_operator, makes_operator, created_by, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, now(), now() + $9 * interval '1 millisecond')
      returning ${COLUMNS}`,
    values: [id, accountId, role, email, hash, isByOperator, makesOperator, createdBy, keepMs],
  });
  return rows[0]!;
}

/** Newest first, without those that have expired. @param page.beforeId  null for the first page */
export async function listInvitations(
  sql: Sql,
  accountId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<InvitationRow[]> {
  return await sql.rows<InvitationRow>({
    text: `
      select ${COLUMNS}
      from invitations
      where account_id = $1 and expires_at > clock_timestamp() and ($2::text is null or id < $2)
      order by id desc
      limit $3`,
    values: [accountId, beforeId, limit],
  });
}

export async function countInvitations(tx: Sql, accountId: string): Promise<number> {
  const [row] = await tx.rows<{ invitations: number }>({
    text: 'select count(*) as invitations from invitations where account_id = $1',
    values: [accountId],
  });
  return row!.invitations;
}

/** The invitation with this token, unless it has expired. @param hash  SHA-256 of the token */
export async function findInvitation(sql: Sql, hash: Buffer): Promise<InvitationRow | null> {
  const [row] = await sql.rows<InvitationRow>({
    text: `select ${COLUMNS} from invitations where hash = $1 and expires_at > clock_timestamp()`,
    values: [hash],
  });
  return row ?? null;
}

/** Deletes an invitation of an account. Returns whether there was one. */
export async function deleteInvitation(
  tx: Sql,
  { id, accountId }: Pick<InvitationRow, 'id' | 'accountId'>,
): Promise<boolean> {
  const deleted = await tx.run({
    text: 'delete from invitations where id = $1 and account_id = $2',
    values: [id, accountId],
  });
  return deleted > 0;
}

/** Deletes those that a user made in an account. Returns their ids. */
export async function deleteInvitationsBy(
  tx: Sql,
  { accountId, userId }: { accountId: string; userId: string },
): Promise<string[]> {
  const rows = await tx.rows<Pick<InvitationRow, 'id'>>({
    text: 'delete from invitations where account_id = $1 and created_by = $2 returning id',
    values: [accountId, userId],
  });
  return rows.map(({ id }) => id);
}

/** Deletes those that a user made as an operator. */
export async function deleteInvitationsOfOperator(tx: Sql, userId: string): Promise<void> {
  await tx.run({ text: 'delete from invitations where created_by = $1 and is_by_operator', values: [userId] });
}

/** Deletes those of an account that have expired. */
export async function deleteExpiredInvitations(tx: Sql, accountId: string): Promise<void> {
  await tx.run({
    text: 'delete from invitations where account_id = $1 and expires_at <= clock_timestamp()',
    values: [accountId],
  });
}

/** Deletes all of an account. */
export async function deleteInvitationsOf(tx: Sql, accountId: string): Promise<void> {
  await tx.run({ text: 'delete from invitations where account_id = $1', values: [accountId] });
}
