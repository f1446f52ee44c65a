import type { HeaderSource } from '../verification.ts';
import { headerValues } from './read-headers.ts';

/** How the raw body is read there, and where the limit of bodies is set; null where there is no limit to raise. */
type FrameworkAdvice = { name: string; rawBody: string; limit: string | null };

const ADVICE = {
  express: {
    name: 'Express',
    rawBody: "use express.raw({ type: 'application/json' }) on this route, before any express.json()",
    limit: "set the limit of express.raw() to '4mb'",
  },
  fastify: {
    name: 'Fastify',
    rawBody: "add a content type parser with parseAs: 'buffer' in the plugin of this route",
    limit: 'set bodyLimit of this route to 4 MiB',
  },
  nextjs: {
    name: 'Next.js',
    rawBody: 'use await request.text() in a route handler; in pages/api set bodyParser to false and read the stream',
    limit: null,
  },
  hono: { name: 'Hono', rawBody: 'use await c.req.text(), and parse that text', limit: null },
  lambda: {
    name: 'AWS Lambda',
    rawBody: "use event.body, or Buffer.from(event.body, 'base64') when event.isBase64Encoded is true",
    limit: null,
  },
  flask: {
    name: 'Flask',
    rawBody: 'use request.get_data(), before request.get_json() and request.form',
    limit: 'raise MAX_CONTENT_LENGTH to 4 MiB',
  },
  django: { name: 'Django', rawBody: 'use request.body', limit: 'raise DATA_UPLOAD_MAX_MEMORY_SIZE to 4 MiB' },
  fastapi: {
    name: 'FastAPI',
    rawBody: 'take the Request and use await request.body(), without a model as parameter',
    limit: null,
  },
  rails: { name: 'Rails', rawBody: 'use request.raw_post', limit: null },
  laravel: { name: 'Laravel', rawBody: 'use $request->getContent()', limit: 'raise post_max_size to 4M' },
  go: {
    name: 'Go',
    rawBody: 'use io.ReadAll(r.Body), and json.Unmarshal these bytes',
    limit: 'raise the limit of http.MaxBytesReader to 4 MiB',
  },
  spring: { name: 'Spring', rawBody: 'take @RequestBody byte[] body', limit: null },
  aspnet: {
    name: 'ASP.NET Core',
    rawBody: 'read Request.Body to its end, without a model as parameter',
    limit: 'raise MaxRequestBodySize to 4 MiB',
  },
} satisfies Record<string, FrameworkAdvice>;

export type Framework = keyof typeof ADVICE;

/** The frameworks that a fix can be given for, by their names. */
export const FRAMEWORKS: Readonly<Record<Framework, string>> = Object.fromEntries(
  Object.entries(ADVICE).map(([key, { name }]) => [key, name]),
) as Record<Framework, string>;

// By a header of the receiver's answer, or of the request as the receiver's host passed it on.
const TRACES: [header: string, pattern: RegExp, framework: Framework][] = [
  ['x-powered-by', /^express/i, 'express'],
  ['x-powered-by', /^next\.js/i, 'nextjs'],
  ['x-powered-by', /^asp\.net/i, 'aspnet'],
  ['server', /^kestrel/i, 'aspnet'],
  ['server', /^werkzeug/i, 'flask'],
  ['server', /^wsgiserver/i, 'django'],
  ['server', /^uvicorn/i, 'fastapi'],
  ['set-cookie', /^laravel/i, 'laravel'],
  ['x-runtime', /^\d+\.\d+$/, 'rails'],
  ['x-vercel-id', /./, 'nextjs'],
];

/** The framework that the headers name; null when they name none. */
export function detectFramework(sources: readonly HeaderSource[]): Framework | null {
  const found = TRACES.find(([header, pattern]) =>
    sources.some((source) => headerValues(source, header).some((value) => pattern.test(value))),
  );
  return found?.[2] ?? null;
}

/** What to do there about a body that is not the raw one, or was cut; null when the cause is another one. */
export function adviceFor(framework: Framework, cause: string): string | null {
  const { name, rawBody, limit }: FrameworkAdvice = ADVICE[framework];
  if (cause === 'body_truncated') return limit && `${name}: ${limit}.`;
  return isOtherBody(cause) ? `${name}: ${rawBody}.` : null;
}

/** Whether the cause is that another body than the raw one was checked. */
export function isOtherBody(cause: string): boolean {
  return cause.startsWith('body_') && cause !== 'body_changed_at' && cause !== 'body_truncated';
}
