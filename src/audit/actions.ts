/** The actions of operators, users and keys that the audit log records. */
export const AUDIT_ACTIONS = [
  'account.created',
  'account.changed',
  'account.suspended',
  'account.resumed',
  'account.deleted',
  'credits.added',
  'user.joined',
  'user.changed',
  'user.deleted',
  'invitation.created',
  'invitation.deleted',
  'key.created',
  'key.deleted',
  'webhook.created',
  'webhook.changed',
  'webhook.deleted',
  'webhook.secret_rotated',
  'secrets.rotated',
  'model.pulled',
  'model.pull_canceled',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];
