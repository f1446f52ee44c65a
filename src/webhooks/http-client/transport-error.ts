import type { PostResult } from '../../rules/webhooks/delivery-outcome.ts';

export type BrokenReason = Extract<PostResult, { kind: 'broken' }>['reason'];

/** How an exchange with a receiver broke: thrown by its steps, caught once in post.ts. The message is for the customer. */
export class Broken extends Error {
  readonly reason: BrokenReason;

  constructor(reason: BrokenReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'Broken';
    this.reason = reason;
  }
}

/** What the customer is told of an error that the network or the TLS layer gave: its code, never its text. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'no code';
}
