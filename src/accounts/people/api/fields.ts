import { ApiError } from '../../../http/api-error.ts';
import { idSchema, oneOf, Type } from '../../../http/schema.ts';
import { EMAIL, emailFault } from '../../../rules/accounts/email.ts';
import { ROLE_MEANING, ROLES } from '../../../rules/accounts/roles.ts';

export const MIN_PASSWORD_CHARS = 12;

export const nameSchema = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
export const emailSchema = Type.String({
  ...EMAIL,
  errorMessage: 'must be an email address',
});
/** A password that is set. */
export const newPasswordSchema = Type.String({ minLength: MIN_PASSWORD_CHARS, maxLength: 200 });
/** A password that is tried. */
export const passwordSchema = Type.String({ minLength: 1, maxLength: 200 });
export const tokenSchema = Type.String({ minLength: 1, maxLength: 100 });
export const roleSchema = oneOf(ROLES, {
  description: ROLES.map((role) => `\`${role}\`: ${ROLE_MEANING[role]}`).join('; '),
});
export const userIdSchema = idSchema('usr', 'usr_01kamz2f3q8r5t7v9wxyzabcde');
export const accountIdSchema = idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde');
export const idParams = Type.Object({ id: Type.String() });

/** @throws ApiError  400 for an email that could be taken for another */
export function requireReadableEmail(email: string): void {
  const fault = emailFault(email);
  if (fault !== null) throw new ApiError('invalid_request', fault, { param: 'email' });
}
