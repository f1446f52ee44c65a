/** Why an attempt failed, as the delivery log names it (contract section 5). */
export const FAILURE_REASONS = [
  'http_status',
  'redirect',
  'timeout',
  'dns',
  'forbidden_address',
  'connect',
  'tls',
  'reset',
  'protocol',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Result of one POST: a status line and headers in time, or a transport error. */
export type PostResult =
  | { kind: 'answered'; status: number }
  | { kind: 'transport_error'; reason: Exclude<FailureReason, 'http_status' | 'redirect'>; message: string };

type Outcome = { kind: 'succeeded' } | { kind: 'failed'; reason: FailureReason; message: string };

/** Whether a POST counts as delivered: a 2xx does, everything else fails with one reason. */
export function classifyPost(result: PostResult): Outcome {
  if (result.kind === 'transport_error') return { kind: 'failed', reason: result.reason, message: result.message };
  const { status } = result;
  if (status >= 200 && status <= 299) return { kind: 'succeeded' };
  if (status >= 300 && status <= 399) {
    return {
      kind: 'failed',
      reason: 'redirect',
      message: `The receiver answered ${status}; redirects are never followed, register the final URL.`,
    };
  }
  return {
    kind: 'failed',
    reason: 'http_status',
    message: `The receiver answered ${status}; any 2xx counts as delivered.`,
  };
}
