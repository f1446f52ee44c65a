import type { Mistake } from './guesses/guess.ts';
import type { HeaderCause } from './read-headers.ts';
import type { SecretCause } from './search.ts';

/** What is wrong with a delivery, or with the check of it. `genuine`: nothing. `unexplained`: no known mistake fits. */
export type SignatureVerdict =
  | 'genuine'
  | HeaderCause
  | 'stale_timestamp'
  | 'clock_skew'
  | Mistake
  | SecretCause
  | 'body_changed_at'
  | 'body_empty'
  | 'body_truncated'
  | 'header_changed_by_proxy'
  | 'wrong_secret'
  | 'unexplained';

/** What to do about each verdict. */
export const SIGNATURE_FIXES: Readonly<Record<SignatureVerdict, string>> = {
  genuine: 'Nothing: signature, body and time fit. If your code refuses it, compare its secret and its clock.',
  missing_header: 'Let your proxy pass the signature and timestamp headers on.',
  header_twice: 'Let your proxy set no header twice, and read the first value only.',
  wrong_header_prefix:
    'Read the headers under the prefix that the service uses (webhook_header_prefix of GET /v1/account).',
  signature_reformatted: 'Compare the header as it is: 64 lower-case hex digits, without a prefix.',
  bad_timestamp: 'Sign over the timestamp header as it is, an ISO 8601 time; do not convert it.',
  stale_timestamp:
    'The delivery is genuine, but old: handle it within 5 minutes, and do not store it before the check.',
  clock_skew: 'The clock of your server is wrong: synchronise it.',
  secret_whitespace: 'Remove spaces, quotes and line ends around the secret in your configuration.',
  secret_prefix_cut: 'The key is the whole secret, including whsec_.',
  secret_decoded: 'The key is the secret as text: do not decode it from base64.',
  wrong_scheme: 'The signed text is the timestamp header, a dot and the raw body.',
  body_parsed: 'Verify the raw bytes before any JSON parser: parsing and writing JSON again changes them.',
  body_empty:
    'The body is empty: verify it before any parser has read it, or include it in the request that you have saved.',
  body_whitespace: 'Keep the body as it is: do not trim it or change its line ends.',
  body_bom:
    'There is a byte order mark (EF BB BF) before the body: take the bytes as received, without an encoding that adds one.',
  body_double_encoded: 'The body arrives inside of a JSON string: take the string itself as the body.',
  body_charset: 'Read the body as bytes, or as UTF-8; not as ASCII, Latin-1 or a form.',
  body_base64: 'Decode the body from base64 first: gateways of functions mark it with isBase64Encoded.',
  body_compressed: 'Uncompress the body first, or keep your proxy from compressing requests.',
  previous_secret: 'It is signed by the secret before the rotation: accept both until the overlap has ended.',
  secret_of_another_webhook:
    'It is signed by the secret of another webhook of this account: each URL needs its own secret.',
  body_changed_at: 'Something changed the body on its way: see where it differs from the one that was sent.',
  body_truncated: 'Raise the limit of your proxy or server for bodies to 4 MiB.',
  header_changed_by_proxy: 'Let your proxy pass the signature and timestamp headers on unchanged.',
  wrong_secret: 'No known secret made this signature: copy the secret again, or rotate it.',
  unexplained: 'No known mistake fits: compare the secret, then the raw bytes of the body with those that were sent.',
};
