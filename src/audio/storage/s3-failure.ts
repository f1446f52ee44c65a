import { reasonOfConnection } from '../../rules/network/connection-failure.ts';

/** As the SDK reports them: its own names, the codes of the server's answers, and the status where there is no code. */
type S3Error = { name?: unknown; $metadata?: { httpStatusCode?: number } };

const KEY_VARIABLES = 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
const CAUSES: [RegExp, string][] = [
  [
    /^(InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken|TokenRefreshRequired)$/,
    `its server refuses the key: correct ${KEY_VARIABLES}`,
  ],
  [/^CredentialsProviderError$/, `there is no key for it: set ${KEY_VARIABLES}`],
  [/^AccessDenied$/, 'its server refuses the access: let this key read, write, list and delete in the bucket'],
  [/^NoSuchBucket$/, 'its server has no such bucket: create it, or correct STORAGE_URL'],
  [/^InvalidBucketName$/, 'its server takes no bucket of such a name: correct STORAGE_URL'],
  [/^RequestTimeTooSkewed$/, 'the clock of this machine and that of its server differ too much: correct the clock'],
  [
    /^(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException|BucketRegionError)$/,
    'its bucket is in another region: correct AWS_REGION',
  ],
  [/^(InternalError|SlowDown|ServiceUnavailable|XMinioServerNotInitialized)$/, 'its server has an error: see its log'],
  // The abort by which a check ends that took too long.
  [/^AbortError$/, 'its server (AWS_ENDPOINT_URL_S3) does not answer in time'],
];

/**
 * Why a bucket cannot be used and what to do, as a phrase that follows "cannot be used: ". It has no address, and of
 * what the server sent its code at most, so that strangers may read it.
 */
export function reasonOfS3(error: unknown): string {
  const { name, $metadata } = (error ?? {}) as S3Error;
  const code = typeof name === 'string' ? (/^\w{1,64}$/.exec(name)?.[0] ?? null) : null;
  const found = CAUSES.find(([pattern]) => code !== null && pattern.test(code));
  if (found) return found[1];
  const ofConnection = reasonOfConnection(error);
  if (ofConnection !== null) return `its server (AWS_ENDPOINT_URL_S3) ${ofConnection}`;
  const status = $metadata?.httpStatusCode;
  if (status === 401 || status === 403) return `its server refuses the access (${status}): correct ${KEY_VARIABLES}`;
  if (status !== undefined && status >= 500) return `its server has an error (${status}): see its log`;
  const what = code === null || code === 'Error' ? 'an unknown error' : code;
  return `its server gives ${what}: check AWS_ENDPOINT_URL_S3 and STORAGE_URL`;
}
