type TransportErrorReason = 'timeout' | 'dns' | 'forbidden_address' | 'connect' | 'tls' | 'reset' | 'protocol';

/**
 * Why an exchange with a receiver of webhooks, or with a server of audio, failed.
 * The message is for the owner of a webhook.
 */
export class TransportError extends Error {
  readonly reason: TransportErrorReason;

  constructor(reason: TransportErrorReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TransportError';
    this.reason = reason;
  }
}

/** No name can be resolved at present: nothing was sent, and it is not the receiver's fault. */
export class NameServersAwayError extends Error {
  constructor(options: { cause: unknown }) {
    super('the name servers of this machine do not answer', options);
    this.name = 'NameServersAwayError';
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
