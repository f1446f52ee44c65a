import errors from 'undici/lib/core/errors.js';
import { codeOf, TransportError } from './transport-error.ts';

// undici gives these errors the code of a closed connection; only their text differs.
const NOT_HTTP = new Set(['bad response', 'bad upgrade']);

/** The error of an exchange on an open connection that undici reports, as it ended before the answer's headers. */
export function exchangeError(cause: Error): TransportError {
  const code = codeOf(cause);
  const isTooLarge = cause instanceof errors.HeadersOverflowError;
  // undici's name for a parser error before the end of the headers, when a Content-Length came before it.
  const isUnreadable =
    cause instanceof errors.HTTPParserError || cause instanceof errors.ResponseContentLengthMismatchError;
  if (isTooLarge || isUnreadable || NOT_HTTP.has(cause.message)) {
    const what = isTooLarge ? 'has more than 16 KiB of headers' : `is not valid HTTP${detailOf(cause)}`;
    return new TransportError('protocol', `The receiver's answer ${what}.`, { cause });
  }
  if (code.startsWith('ERR_SSL')) {
    return new TransportError('tls', `The receiver ended the TLS connection (${code}).`, { cause });
  }
  return new TransportError('reset', 'The receiver closed the connection before it answered.', { cause });
}

/** What the parser says, in a fixed text without a part of the answer; empty where it says nothing. */
function detailOf(cause: Error): string {
  if (cause instanceof errors.ResponseContentLengthMismatchError) {
    return ': what follows its Content-Length cannot be read, such as a Transfer-Encoding';
  }
  const [, detail] = cause instanceof errors.HTTPParserError ? (/\(([^()]+)\)$/.exec(cause.message) ?? []) : [];
  if (detail === undefined) return '';
  return detail.startsWith('Expected HTTP/') ? ': it does not begin with HTTP/1.1' : `: ${detail}`;
}
