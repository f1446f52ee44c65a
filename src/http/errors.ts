import { isDatabaseAway } from '../db/database.ts';
import { writeJson } from '../platform/json.ts';
import { ApiError, BodyTimeoutError, docsOf, type ErrorType } from './api-error.ts';

/** What the client is answered when a request fails. */
export type Problem = {
  status: number;
  type: ErrorType;
  message: string;
  param?: string | undefined;
  extra: Record<string, unknown>;
  headers: Record<string, string>;
};

const DATABASE_RETRY_SECONDS = '2';

// Fastify's own errors. Statuses without a type of their own (408, 431) have the type `invalid_request`.
const FASTIFY_PROBLEMS: Record<string, Problem> = {
  FST_ERR_BAD_URL: problem(400, 'invalid_request', 'The path is not valid percent-encoding; encode it as UTF-8.'),
  FST_ERR_MAX_PARAM_LENGTH: problem(404, 'not_found', 'There is nothing at this path.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: problem(
    415,
    'unsupported_media_type',
    'Send the body as JSON, with Content-Type: application/json.',
  ),
};

function problem(status: number, type: ErrorType, message: string, headers: Record<string, string> = {}): Problem {
  return { status, type, message, extra: {}, headers };
}

/** The problem for a thrown value. An unexpected error becomes a 500 without any of its details. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) {
    const { status, type, message, param, extra, headers } = error;
    return { status, type, message, param, extra, headers };
  }
  if (error instanceof BodyTimeoutError) return problem(408, 'invalid_request', error.message);
  const known = FASTIFY_PROBLEMS[String((error as { code?: unknown } | null)?.code)];
  if (known) return known;
  if (isDatabaseAway(error) || isDeadlock(error)) {
    const message = 'The service is not available just now; try again in a few seconds.';
    return problem(503, 'unavailable', message, { 'retry-after': DATABASE_RETRY_SECONDS });
  }
  const message = 'Something went wrong on our side; try again, and report the request_id if it stays.';
  return problem(500, 'internal', message);
}

/** The JSON body of an error. */
export function writeProblem({ message, status, type, param, extra }: Omit<Problem, 'headers'>, requestId: string) {
  return writeJson({
    error: { message, code: status, type, param, docs: docsOf(type) },
    ...extra,
    request_id: requestId,
  });
}

/** PostgreSQL ended the transaction of one request to let another go on; nothing of it was written. */
function isDeadlock(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '40P01';
}
