import type { PostResult } from '../../rules/webhooks/delivery-outcome.ts';

export type TransportErrorReason = Extract<PostResult, { kind: 'transport_error' }>['reason'];

/** How an exchange with a receiver broke: thrown by its steps, caught once in post.ts. The message is for the customer. */
export class TransportError extends Error {
  readonly reason: TransportErrorReason;

  constructor(reason: TransportErrorReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TransportError';
    this.reason = reason;
  }
}

/** What the customer is told of an error that the network or the TLS layer gave: its code, never its text. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'no code';
}
