import { component, idSchema, nullable, type Static, Type, timeSchema } from '../../http/schema.ts';
import type { SessionRow } from '../keys/session-store.ts';

export const sessionSchema = Type.Object(
  {
    id: idSchema('ses', 'ses_01kamz2f3q8r5t7v9wxyzabcde'),
    account_id: idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde'),
    key_id: nullable(
      idSchema('key', 'key_01kamz2f3q8r5t7v9wxyzabcde'),
      'The key that signed in. The session has its scopes, and ends with it. Null for a user.',
    ),
    user_id: nullable(
      idSchema('usr', 'usr_01kamz2f3q8r5t7v9wxyzabcde'),
      'The user who signed in. The session has the scopes of the role. Null for a key.',
    ),
    created_at: timeSchema,
    expires_at: timeSchema,
  },
  component('Session'),
);

/** @param userId  null for the session of a key */
export function showSession(
  session: SessionRow,
  { accountId, userId }: { accountId: string; userId: string | null },
): Static<typeof sessionSchema> {
  return {
    id: session.id,
    account_id: accountId,
    key_id: userId === null ? session.keyId : null,
    user_id: userId,
    created_at: session.createdAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}
