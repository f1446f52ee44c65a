import type { PostResult } from '../../rules/webhooks/delivery-outcome.ts';

export type TransportErrorReason = Extract<PostResult, { kind: 'transport_error' }>['reason'];

/** Why an exchange with a receiver failed. The steps of an attempt throw it, attempt.ts catches it. The message is for the customer. */
export class TransportError extends Error {
  readonly reason: TransportErrorReason;

  constructor(reason: TransportErrorReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TransportError';
    this.reason = reason;
  }
}

/** Names neither the rule nor the address: either would tell an attacker about the operator's network. */
export function forbiddenAddress(): TransportError {
  return new TransportError('forbidden_address', 'The receiver is at an address that webhooks may not point to.');
}

/** The code of a network or TLS error, for the customer, who never gets its text. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'no code';
}
