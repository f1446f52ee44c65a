import { Readable } from 'node:stream';
import { ApiError } from '../api-error.ts';
import type { Answer, Call, Route } from '../route.ts';
import type { ConsoleFile } from './console-bundle.ts';
import type { LoadConsole } from './console-files.ts';
import { frameAncestors } from './frame-ancestors.ts';

// No inline code, no other origins, and no conversion of strings to markup: text of other people is never executed.
// Audio that the user chooses is played from the tab's memory (blob:).
const policyFor = (origins: readonly string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    frameAncestors(origins),
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
const PAGE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
  // The microphone, for recordings on the page Transcribe.
  'permissions-policy': 'camera=(), geolocation=(), microphone=(self)',
};
// Of index.html.
const COMMAND_FIELD = commandField('verbatim');
const CACHE_FOREVER = 'public, max-age=31536000, immutable';

type ConsoleCall = Call<{ file: string }, unknown, undefined>;

/**
 * The console: a page at `/` and its files, which browsers keep for ever because their names contain a hash.
 * @param load      returns the bundle; called again after it has failed
 * @param framedBy  origins whose pages may show the console in a frame
 * @param command   `verbatim` as the readers of the console can type it
 */
export function consoleRoutes(
  load: LoadConsole,
  { framedBy = [], command = 'verbatim' }: { framedBy?: readonly string[]; command?: string } = {},
): Route[] {
  const headers = { ...PAGE_HEADERS, 'content-security-policy': policyFor(framedBy) };
  const bundle = async () =>
    await load().catch((cause: Error) => {
      throw new ApiError('unavailable', cause.message, { cause });
    });
  return [
    consoleRoute('/', 'The console', async () => {
      const page = (await bundle()).page.replace(COMMAND_FIELD, () => commandField(command));
      return { status: 200, body: page, contentType: 'text/html; charset=utf-8', headers };
    }),
    consoleRoute('/console/:file', 'A file of the console', async (call: ConsoleCall) => {
      const file = (await bundle()).files.get(call.params.file);
      // During an upgrade a page may ask for files of another version.
      if (!file) throw new ApiError('not_found', 'The console has no such file; load / again.');
      return answerFile(file, call.header('accept-encoding') ?? '');
    }),
  ];
}

function commandField(command: string): string {
  const escaped = command.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<meta name="command" content="${escaped}">`;
}

function consoleRoute(path: string, summary: string, handle: Route['handle']): Route {
  return { method: 'GET', path, auth: 'none', summary, tag: 'Console', schema: { answers: {} }, handle };
}

function answerFile(file: ConsoleFile, accepted: string): Answer {
  const encoding = (['br', 'gzip'] as const).find((name) =>
    new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepted),
  );
  const content = file[encoding ?? 'identity'];
  const headers = {
    'cache-control': CACHE_FOREVER,
    'content-length': String(content.length),
    vary: 'accept-encoding',
    ...(encoding && { 'content-encoding': encoding }),
  };
  return { status: 200, stream: Readable.from([content]), contentType: file.contentType, headers };
}
