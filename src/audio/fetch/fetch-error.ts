import { codeOf, TransportError } from '../../egress/transport-error.ts';
import type { FetchFailure, FetchFailureReason } from '../../rules/network/fetch-failure.ts';

/**
 * Why audio could not be fetched. The message is for the client: it names no address and quotes nothing of the answer.
 */
export class FetchError extends Error implements FetchFailure {
  readonly reason: FetchFailureReason;
  readonly httpStatus: number | null;
  readonly retryAfter: string | null;

  constructor(reason: FetchFailureReason, message: string, options: FetchErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'FetchError';
    this.reason = reason;
    this.httpStatus = options.httpStatus ?? null;
    this.retryAfter = options.retryAfter ?? null;
  }
}

type FetchErrorOptions = { httpStatus?: number; retryAfter?: string | null; cause?: unknown };

const MESSAGES = {
  dns: 'The name of the server could not be resolved',
  forbidden_address: 'The server is at an address that audio_url may not point to',
  connect: 'The connection to the server failed',
  tls: 'The TLS handshake with the server failed',
  timeout: 'No connection to the server was made in time',
  reset: 'The server closed the connection',
  protocol: 'The answer of the server is not valid HTTP',
} as const;

// What failed on the network has a code that helps the client; the others would tell about the operator's network.
const WITH_CODE: readonly TransportError['reason'][] = ['dns', 'connect', 'tls'];

/** The failure of a fetch for an error of the connection; other errors are returned unchanged. */
export function asFetchError(error: unknown): unknown {
  if (!(error instanceof TransportError)) return error;
  const { reason, cause } = error;
  const code = WITH_CODE.includes(reason) && cause !== undefined ? ` (${codeOf(cause)})` : '';
  return new FetchError(
    reason === 'reset' || reason === 'protocol' ? 'connect' : reason,
    `${MESSAGES[reason]}${code}.`,
    {
      cause: error,
    },
  );
}
