// Codes of Node, of undici and of OpenSSL, and names of errors that have no code.
const CAUSES: [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_)/, 'cannot be reached: its name cannot be resolved'],
  [/^ECONNREFUSED$/, 'cannot be reached: nothing listens at its address'],
  [/^(EHOST|ENET)/, 'cannot be reached: there is no route to it'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_REQ_CONTENT_LENGTH_MISMATCH)$/, 'closed the connection'],
  [/TIMEOUT|ETIMEDOUT|^TimeoutError$/, 'does not answer in time'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'has a certificate of another name: use the name that the certificate has'],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    'has a certificate that is not valid today: renew it, or correct the clock of this machine',
  ],
  [
    /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/,
    'has a certificate that is not trusted here: name its CA in NODE_EXTRA_CA_CERTS',
  ],
  [/^(ERR_SSL_|ERR_TLS_|EPROTO$)/, 'does not speak TLS as asked: check https:// or http://, and the port'],
  [/^HPE_/, 'does not speak HTTP: check https:// or http://, and the port'],
];

/**
 * Why a server cannot be asked and what to do, as a phrase that follows its name; null for an error that is not of the
 * connection. It has no address and nothing that the server sent, so that strangers may read it.
 */
export function reasonOfConnection(error: unknown): string | null {
  for (let told = error; told instanceof Error; told = told.cause) {
    const { code, name } = told as Error & { code?: unknown };
    const signs = [code, name].filter((sign) => typeof sign === 'string');
    const found = CAUSES.find(([pattern]) => signs.some((sign) => pattern.test(sign)));
    if (found) return found[1];
  }
  return null;
}
