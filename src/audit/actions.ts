/** What the audit log names: an action of an operator or of a key. */
export const AUDIT_ACTIONS = [
  ...(['account.created', 'account.changed', 'credits.added', 'key.created', 'key.deleted'] as const),
  ...(['webhook.created', 'webhook.changed', 'webhook.deleted', 'webhook.secret_rotated'] as const),
  'secrets.rotated',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];
