/** Where the separate listener for operators is, when ADMIN_HOST is not set. */
export const ADMIN_HOST = '127.0.0.1';

/** What is wrong with settings that are right one by one. */
export function mistakesTogether(config: Record<string, unknown>): string[] {
  const mistakes: string[] = [];
  if (config['databaseDirectUrl'] && config['databaseUrl'] === null) {
    mistakes.push('DATABASE_DIRECT_URL needs DATABASE_URL beside it');
  }
  if (config['adminHost'] && config['adminPort'] === null) mistakes.push('ADMIN_HOST needs ADMIN_PORT beside it');
  if ((config['tlsCertFile'] === null) !== (config['tlsKeyFile'] === null)) {
    mistakes.push('TLS_CERT_FILE and TLS_KEY_FILE need each other');
  }
  if ((config['oidcIssuer'] === null) !== (config['oidcClientId'] === null)) {
    mistakes.push('OIDC_ISSUER and OIDC_CLIENT_ID need each other');
  }
  if (config['passwordSignIn'] === 'off' && config['oidcIssuer'] === null) {
    mistakes.push('PASSWORD_SIGN_IN=off needs OIDC_ISSUER: nobody could sign in');
  }
  const hasTls = config['tlsCertFile'] !== null && Number(config['tlsPort']) > 0;
  if (hasTls && config['tlsPort'] === config['port']) mistakes.push('TLS_PORT must be another port than PORT');
  const isSameHost = [config['adminHost'] ?? ADMIN_HOST, '0.0.0.0', '::'].includes(config['host'] as string);
  const isSamePort = Number(config['adminPort']) > 0 && config['adminPort'] === config['port'];
  if (isSameHost && isSamePort) mistakes.push('ADMIN_PORT must be another port than PORT');
  if (isSameHost && hasTls && config['tlsPort'] === config['adminPort']) {
    mistakes.push('TLS_PORT must be another port than ADMIN_PORT');
  }
  return mistakes;
}
