import type { Role } from '../rules/accounts/roles.ts';
import type { Scope } from '../rules/accounts/scopes.ts';

/** An account without its balance. */
export type Account = {
  id: string;
  /** 0 to 63, see rules/shard.ts: every statement on a hot table names it. */
  shard: number;
  name: string;
  plan: 'lite' | 'pro';
  unlimited: boolean;
};

/** An account as it was when its key was looked up, less than a second ago. Every authenticated request has it. */
export type CallerAccount = Account & {
  /** Whether something was left to spend. */
  hadCredit: boolean;
  isSuspended: boolean;
};

/** The account of a caller that was found not to be suspended. Only `requireUnsuspended` makes one. */
export type PermittedAccount = CallerAccount & { isSuspended: false };

/** The API key of a request, without its secret part; of a user's session the membership. */
export type CallerKey = {
  id: string;
  /** Empty: all. */
  scopes: readonly Scope[];
  expiresAt: Date | null;
};

/** The user of a session, with the role in the account of the session. */
export type CallerUser = { id: string; role: Role; isOperator: boolean };

/**
 * Who calls: with an API key, or by a session that began with this key. `sessionId`: null without a session. `user`:
 * null for programs, and for a session that a key began.
 */
export type Caller = {
  account: CallerAccount;
  key: CallerKey;
  sessionId: string | null;
  user: CallerUser | null;
};

/** Names the account and the key of an earlier request. A caller without a key is nobody: it is refused. */
export type CallerName = { shard: number; accountId: string; keyId: string | null };

/** A key that was valid until a time. */
export type EndedKey = { kind: 'expired' | 'revoked'; keyId: string; accountId: string; endedAt: Date };

/** Who makes a change, for the audit log. */
export type Actor = {
  /** Null: the operator. */
  key: CallerKey | null;
  /** Null: the key was sent itself. */
  sessionId: string | null;
  /** Null: a key, or the operator's token. */
  user: CallerUser | null;
  /** The peer of the connection, or what a trusted proxy names. */
  address: string;
  requestId: string;
  /** The trace that the request belongs to, for the job that it makes; null or absent: none. */
  traceparent?: string | null;
};
