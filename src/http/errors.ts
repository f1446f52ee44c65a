import { isDatabaseAway } from '../db/database.ts';
import { writeJson } from '../platform/json.ts';
import type { ErrorType } from './api-error.ts';
import { ApiError } from './api-error.ts';

/** What a caller is told about a failed request. */
export type Problem = {
  status: number;
  type: ErrorType;
  message: string;
  param?: string | undefined;
  extra: Record<string, unknown>;
  headers: Record<string, string>;
  /** Our fault, to be logged as an error with its cause. */
  isOurs: boolean;
};

const AWAY_RETRY_SECONDS = '2';

// Fastify's own errors, in our words. Statuses outside the table of types (408, 431) belong to `invalid_request`.
const FASTIFY_PROBLEMS: Record<string, { status: number; type: ErrorType; message: string }> = {
  FST_ERR_BAD_URL: refusal(400, 'invalid_request', 'The path is not valid percent-encoding; encode it as UTF-8.'),
  FST_ERR_MAX_PARAM_LENGTH: refusal(404, 'not_found', 'There is nothing at this path.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refusal(
    415,
    'unsupported_media_type',
    'Send the body as JSON, with Content-Type: application/json.',
  ),
};

function refusal(status: number, type: ErrorType, message: string) {
  return { status, type, message };
}

/** The problem that any thrown value stands for. What we did not foresee says nothing of its inside. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) {
    const { status, type, message, param, extra, headers } = error;
    return { status, type, message, param, extra, headers, isOurs: status === 500 };
  }
  const known = FASTIFY_PROBLEMS[String((error as { code?: unknown } | null)?.code)];
  if (known) return { ...known, extra: {}, headers: {}, isOurs: false };
  if (isDatabaseAway(error)) {
    return {
      ...refusal(503, 'unavailable', 'The service is not available just now; try again in a few seconds.'),
      extra: {},
      headers: { 'retry-after': AWAY_RETRY_SECONDS },
      isOurs: false,
    };
  }
  return {
    ...refusal(500, 'internal', 'Something went wrong on our side; try again, and report the request_id if it stays.'),
    extra: {},
    headers: {},
    isOurs: true,
  };
}

/** The one body of every error, whatever went wrong and wherever. */
export function writeProblem(
  problem: Pick<Problem, 'status' | 'type' | 'message' | 'param' | 'extra'>,
  requestId: string,
) {
  const { message, status, type, param, extra } = problem;
  return writeJson({ error: { message, code: status, type, param }, ...extra, request_id: requestId });
}
